# SPDX-License-Identifier: Apache-2.0
"""占位：只为让这棵树看起来是一份 PyPTO 仓库。"""
