// The test view: an operator's case matrix as tests, run by phase 4, whoever starts it.
import * as vscode from 'vscode';
import { messageOf } from '../log';
import type { Store } from '../operators/store';
import type { RunEventParams } from '../protocol';
import { going } from '../protocol';
import type { Server } from '../server/server';
import { Matrix } from './matrix';
import { Report } from './report';

interface Started {
  run: string;
}

class Explorer {
  private readonly controller = vscode.tests.createTestController('opdev', vscode.l10n.t('opdev: case matrix'));
  private readonly matrix: Matrix;
  private readonly profile: vscode.TestRunProfile;
  private readonly reports = new Map<string, Report>();
  /** Runs that were over before anybody asked for their tests. */
  private readonly past = new Set<string>();
  /** Operators for which a run is being started, with what came meanwhile of runs nobody knows. */
  private readonly starting = new Map<string, RunEventParams[]>();
  private readonly heard: vscode.Disposable;

  constructor(
    private readonly server: Server,
    store: Store,
  ) {
    this.matrix = new Matrix(server, store, this.controller);
    this.matrix.onListed = (root) => this.remember(root);
    const label = vscode.l10n.t('Run on the executor that is set');
    this.profile = this.controller.createRunProfile(
      label,
      vscode.TestRunProfileKind.Run,
      (request, token) => this.asked(request, token),
      true,
    );
    this.heard = store.onRunEvents((params) => this.take(params));
  }

  dispose(): void {
    vscode.Disposable.from(this.heard, this.profile, this.matrix, this.controller).dispose();
  }

  private take(params: RunEventParams): void {
    const waiting = this.starting.get(params.root);
    const report = this.reports.get(params.run) ?? (waiting ? undefined : this.foreign(params));
    if (report) {
      report.take(params);
    } else {
      waiting?.push(params);
    }
    if (!going(params.state)) {
      this.past.add(params.run);
      this.reports.delete(params.run);
    }
  }

  /** A run that was started elsewhere, from the moment on that its cases run. */
  private foreign(params: RunEventParams): Report | undefined {
    const operator = this.matrix.operator(params.root);
    const tells = params.events.some((one) => one.type === 'case' || String(one.task).endsWith('-matrix'));
    if (!operator || !tells || this.past.has(params.run)) {
      return undefined;
    }
    const request = new vscode.TestRunRequest([operator], undefined, this.profile, false, true);
    const test = this.controller.createTestRun(request, params.run);
    const report = this.follow(params.root, params.run, test, []);
    void report.over.then(() => test.end());
    return report;
  }

  private follow(root: string, run: string, test: vscode.TestRun, wanted: readonly vscode.TestItem[]): Report {
    const report = new Report(this.server, this.matrix, root, run, test, wanted);
    this.reports.set(run, report);
    return report;
  }

  /** The user runs tests: one run of opdev for each operator, or for each case where the runner takes one only. */
  private async asked(request: vscode.TestRunRequest, token: vscode.CancellationToken): Promise<void> {
    const test = this.controller.createTestRun(request);
    try {
      for (const [root, items] of await this.wanted(request)) {
        items.forEach((item) => test.enqueued(item));
        for (const part of this.parts(root, items)) {
          if (token.isCancellationRequested) {
            part.forEach((item) => test.skipped(item));
          } else {
            await this.start(root, part, test, token);
          }
        }
      }
    } finally {
      test.end();
    }
  }

  private async wanted(request: vscode.TestRunRequest): Promise<Map<string, vscode.TestItem[]>> {
    const asked = request.include ?? [...this.controller.items].map(([, item]) => item);
    const excluded = new Set(request.exclude?.map((item) => item.id));
    const found = new Map<string, vscode.TestItem[]>();
    for (const item of asked) {
      if (item.parent) {
        found.set(item.parent.id, [...(found.get(item.parent.id) ?? []), item]);
        continue;
      }
      await this.matrix.refresh(item.id);
      found.set(
        item.id,
        [...item.children].map(([, child]) => child),
      );
    }
    for (const [root, items] of found) {
      const kept = items.filter((item) => !excluded.has(item.id) && !excluded.has(root));
      found.set(root, kept);
      if (!kept.length) {
        found.delete(root);
      }
    }
    return found;
  }

  private parts(root: string, items: readonly vscode.TestItem[]): (readonly vscode.TestItem[])[] {
    const one = this.matrix.picks(root) === 'one' && items.length > 1 && !this.all(root, items);
    return one ? items.map((item) => [item]) : [items];
  }

  private all(root: string, items: readonly vscode.TestItem[]): boolean {
    return items.length === this.matrix.operator(root)?.children.size;
  }

  private async start(
    root: string,
    items: readonly vscode.TestItem[],
    test: vscode.TestRun,
    token: vscode.CancellationToken,
  ): Promise<void> {
    // All of them are the phase as it is: evidence for its gate. So is what cannot be told apart.
    const whole = this.all(root, items) || this.matrix.picks(root) === 'none';
    const cases = items.map((item) => this.matrix.record(item)?.id ?? item.label);
    const early: RunEventParams[] = [];
    this.starting.set(root, early);
    let report: Report;
    let run: string;
    try {
      const asked = { root, phase: '4', ...(whole ? {} : { cases }) };
      ({ run } = await vscode.commands.executeCommand<Started>('opdev.runPhase', asked));
      report = this.follow(root, run, test, items);
    } catch (error) {
      items.forEach((item) => test.errored(item, new vscode.TestMessage(messageOf(error))));
      return;
    } finally {
      this.starting.delete(root);
    }
    early.forEach((params) => this.take(params));
    const stop = token.onCancellationRequested(() => {
      void vscode.commands.executeCommand('opdev.stopRun', { root, run }).then(undefined, (error: unknown) => {
        void vscode.window.showErrorMessage(messageOf(error));
        // Without a server nothing more will be said.
        report.abandon();
      });
    });
    await report.over;
    stop.dispose();
  }

  /** What the last runs said, once, when the cases become known. */
  private remember(root: string): void {
    const operator = this.matrix.operator(root);
    const items = operator ? [...operator.children].map(([, item]) => item) : [];
    const told = items.filter((item) => this.matrix.record(item)?.last);
    if (!operator || !told.length) {
      return;
    }
    const request = new vscode.TestRunRequest(told, undefined, this.profile, false, true);
    const test = this.controller.createTestRun(request, vscode.l10n.t('Last results'), false);
    for (const item of told) {
      const last = this.matrix.record(item)?.last;
      if (last?.verdict === 'PASS') {
        test.passed(item);
      } else if (last) {
        const message = vscode.TestMessage.diff(last.text, last.expected, last.actual);
        if (item.uri && item.range) {
          message.location = new vscode.Location(item.uri, item.range);
        }
        test.failed(item, message);
      }
    }
    test.end();
  }
}

export function testExplorer(server: Server, store: Store): vscode.Disposable {
  const explorer = new Explorer(server, store);
  return new vscode.Disposable(() => explorer.dispose());
}
