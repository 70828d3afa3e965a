// Data a page asks for beyond the run's events; the server has it.
import { messageOf } from '../log';
import type { Server } from '../server/server';
import type { Target, ToHost, ToPage } from './messages';

const ALLOWED = new Set(['opdev/precision', 'opdev/performance', 'opdev/runHistory', 'opdev/runEvents']);

export async function answer(
  server: Server,
  target: Target,
  message: Extract<ToHost, { type: 'request' }>,
): Promise<ToPage> {
  const { id, request } = message;
  try {
    if (!ALLOWED.has(request) || !server.client) {
      throw new Error(request);
    }
    const data: unknown = await server.client.sendRequest(request, { ...message.arguments, root: target.root });
    return { type: 'data', id, data, problem: null };
  } catch (error) {
    return { type: 'data', id, data: null, problem: messageOf(error) };
  }
}
