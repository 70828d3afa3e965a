// Questions to the host that are answered one by one, in any order.
import type { ToPage } from '../../src/panels/messages';
import { send } from './host';

interface Waiting {
  resolve(data: unknown): void;
  reject(error: Error): void;
}

let last = 0;
const waiting = new Map<number, Waiting>();

/** The server's answer; an Error with its words where it refuses. */
export function ask<T>(request: string, asked: Record<string, unknown> = {}): Promise<T> {
  last += 1;
  const id = last;
  send({ type: 'request', request, arguments: asked, id });
  return new Promise<unknown>((resolve, reject) => waiting.set(id, { resolve, reject })) as Promise<T>;
}

export function answered(message: Extract<ToPage, { type: 'data' }>): void {
  const one = waiting.get(message.id);
  waiting.delete(message.id);
  if (message.problem === null) {
    one?.resolve(message.data);
  } else {
    one?.reject(new Error(message.problem));
  }
}
