// Sources include this directly; all of it is in shmem.h.
#pragma once
#include "shmem.h"
