// The page's side of the talk with its host.
import type { ToHost, ToPage } from '../../src/panels/messages';

interface Api {
  postMessage(message: ToHost): void;
  getState(): unknown;
  setState(state: unknown): void;
}

declare function acquireVsCodeApi(): Api;

const api = acquireVsCodeApi();

export function send(message: ToHost): void {
  api.postMessage(message);
}

/** Remembers what is shown, for the reload of the window. */
export function remember(state: unknown): void {
  api.setState(state);
}

export function hear(take: (message: ToPage) => void): void {
  window.addEventListener('message', (event: MessageEvent<ToPage>) => take(event.data));
  send({ type: 'ready' });
}

/** What changes more often than this is drawn no oftener: the editor shares the processor. */
const DRAWN_MS = 250;
/** Where a frame takes long, this many times as long belongs to the editor. */
const SHARE = 4;
const LONGEST_MS = 1_000;

/** Draws in the next frame, at most four times a second, and more seldom where the machine is busy. */
export function painter(draw: () => void): () => void {
  let asked = false;
  let last = -Infinity;
  let pause = DRAWN_MS;
  // What is posted from inside a frame arrives when the frame has been painted.
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => {
    pause = Math.min(LONGEST_MS, Math.max(DRAWN_MS, SHARE * (performance.now() - last)));
  };
  return () => {
    if (asked) {
      return;
    }
    asked = true;
    const paint = (): void => {
      asked = false;
      last = performance.now();
      draw();
      port2.postMessage(null);
    };
    const rest = last + pause - performance.now();
    if (rest > 0) {
      setTimeout(() => requestAnimationFrame(paint), rest);
    } else {
      requestAnimationFrame(paint);
    }
  };
}
