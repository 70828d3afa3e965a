// A run told to the test view: verdicts, expected and actual, output; the server says what they are.
import * as vscode from 'vscode';
import { inLanguage } from '../language';
import { log, messageOf } from '../log';
import type { RunEventParams } from '../protocol';
import type { Server } from '../server/server';
import type { Matrix } from './matrix';
import type { News } from './news';
import { NewsReader } from './news';
import { Output } from './output';
import { Tail } from './tail';

/** What one run of opdev says of tests. */
export class Report {
  private readonly reader = new NewsReader();
  private readonly logs: Tail;
  private readonly output: Output;
  private readonly told = new Set<string>();
  private readonly failed: vscode.TestItem[] = [];
  private pending: Promise<void> = Promise.resolve();
  /** Resolved when the run has ended and all of it was told. */
  readonly over: Promise<void>;
  private finish: () => void = () => undefined;

  /** `wanted` are the cases that were asked for; those without a verdict are told so in the end. */
  constructor(
    server: Server,
    private readonly matrix: Matrix,
    private readonly root: string,
    private readonly run: string,
    private readonly test: vscode.TestRun,
    private readonly wanted: readonly vscode.TestItem[],
  ) {
    this.output = new Output((text) => test.appendOutput(text), vscode.l10n.t('… the rest is in the log of the run'));
    this.logs = new Tail(server, root, run, (lines) => {
      this.output.add(lines);
      return !this.output.full;
    });
    this.over = new Promise((resolve) => (this.finish = resolve));
  }

  take(params: RunEventParams): void {
    if (!this.output.full) {
      this.logs.heard(params.events);
    }
    for (const news of this.reader.take(params.events, params.state)) {
      // One after the other: a verdict may have to wait for what the server knows of it.
      this.pending = this.pending
        .then(() => this.tell(news))
        .catch((error: unknown) => log().warn(`tests of ${this.run}: ${messageOf(error)}`));
    }
  }

  /** Nothing more will come. */
  abandon(): void {
    this.finish();
  }

  private async tell(news: News): Promise<void> {
    switch (news.kind) {
      case 'matrix':
        this.wanted.forEach((item) => this.test.started(item));
        break;
      case 'verdict':
        await this.verdict(news.id, news.verdict, news.seconds);
        break;
      case 'why':
        for (const item of this.failed) {
          this.test.failed(item, this.message(item, inLanguage(news.text)));
        }
        break;
      case 'over':
        for (const item of this.wanted.filter((one) => !this.told.has(one.id))) {
          if (news.state === 'stopped') {
            this.test.skipped(item);
          } else {
            const why = news.text ? inLanguage(news.text) : vscode.l10n.t('The run ended without a verdict on this case.');
            this.test.errored(item, this.message(item, why));
          }
        }
        await this.logs.end();
        this.output.flush();
        this.finish();
        break;
    }
  }

  private async verdict(id: string, verdict: string, seconds: number | undefined): Promise<void> {
    const item = this.matrix.item(this.root, id);
    if (!item) {
      return;
    }
    this.told.add(item.id);
    const duration = seconds === undefined ? undefined : seconds * 1000;
    if (verdict === 'PASS') {
      this.test.passed(item, duration);
      return;
    }
    await this.matrix.refresh(this.root);
    const now = this.matrix.item(this.root, id) ?? item;
    const last = this.matrix.record(now)?.last;
    const text = last?.run === this.run ? last.text : `${id}: ${verdict}`;
    const message =
      last?.run === this.run && (last.expected || last.actual)
        ? vscode.TestMessage.diff(text, last.expected, last.actual)
        : new vscode.TestMessage(text);
    if (verdict === 'FAIL') {
      this.failed.push(now);
      this.test.failed(now, this.at(now, message), duration);
    } else {
      // Blocked, timed out: nothing was judged.
      this.test.errored(now, this.at(now, message), duration);
    }
  }

  private message(item: vscode.TestItem, text: string): vscode.TestMessage {
    return this.at(item, new vscode.TestMessage(text));
  }

  private at(item: vscode.TestItem, message: vscode.TestMessage): vscode.TestMessage {
    if (item.uri && item.range) {
      message.location = new vscode.Location(item.uri, item.range);
    }
    return message;
  }
}
