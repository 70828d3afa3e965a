// What the user is offered when there is no Python with opdev, and the making of an environment with all its news.
import * as vscode from 'vscode';
import { log, messageOf } from '../log';
import { places } from '../places';
import type { Health, Server } from '../server/server';
import { findBase } from './base';
import type { Tried } from './find';
import type { Bundle, Home, Step } from './managed';
import { hadOne, isReady, make, NotMade } from './managed';
import { compare, OLDEST_OPDEV } from './version';

export class Setup {
  /** What was offered last: the same is not said twice. */
  private offered = '';
  private making: Promise<void> | undefined;

  constructor(
    private readonly server: Server,
    private readonly where: Home,
    private readonly found: Bundle | undefined,
  ) {}

  /** The server's news: what is missing is offered once, and made without asking where it was made before. */
  heard(health: Health): void {
    if (health.kind !== 'missing') {
      return;
    }
    const asked = health.result.tried.some((one) => one.candidate.origin === 'setting');
    const why = reason(health.result.tried, asked);
    if (why === this.offered) {
      return;
    }
    this.offered = why;
    if (this.found && !asked && hadOne(this.where)) {
      void this.make();
    } else {
      void this.offer(why);
    }
  }

  /** Makes the environment, and starts the server with it; tells why where that cannot be. */
  make(): Promise<void> {
    this.making ??= this.run().finally(() => {
      this.making = undefined;
    });
    return this.making;
  }

  private async offer(why: string): Promise<void> {
    const choose = vscode.l10n.t('Choose Python…');
    const setUp = vscode.l10n.t('Set up opdev');
    const showLog = vscode.l10n.t('Show log');
    const what = this.found
      ? vscode.l10n.t('The extension can make a Python environment of its own; that needs no network and changes nothing else.')
      : vscode.l10n.t('Install it with “pip install opdev” and choose that Python.');
    const chosen = await vscode.window.showWarningMessage(
      `${why} ${what}`,
      ...(this.found ? [setUp, choose] : [choose, showLog]),
    );
    if (chosen === setUp) {
      await this.make();
    } else if (chosen === choose) {
      await vscode.commands.executeCommand('opdev.choosePython');
    } else if (chosen === showLog) {
      log().show();
    }
  }

  private async run(): Promise<void> {
    const { found, where } = this;
    if (!found) {
      await this.failed(vscode.l10n.t('This build of the extension carries no packages for this machine. Install opdev with “pip install opdev” and choose that Python.'));
      return;
    }
    try {
      if (!isReady(where) && !(await this.build(found))) {
        return;
      }
      await forgetSetting();
      await this.server.refresh();
    } catch (error) {
      if (error instanceof NotMade && error.why === 'cancelled') {
        log().info('making the environment was cancelled');
        return;
      }
      const output = error instanceof NotMade ? error.output : '';
      log().error(`the environment could not be made: ${messageOf(error)}\n${output}`);
      const venv = error instanceof NotMade && error.why === 'no-venv';
      await this.failed(
        venv
          ? vscode.l10n.t('This Python cannot make environments: its module “venv” is missing. Install it (Debian and Ubuntu: “apt install python3-venv”), then try again.')
          : vscode.l10n.t('The environment could not be made: {0}', lastLine(output) || messageOf(error)),
      );
    }
  }

  /** False: there is no Python to make it with, which the user was told. */
  private async build(found: Bundle): Promise<boolean> {
    const { base, seen } = await findBase(places(this.where), found);
    if (!base) {
      const { pythons } = found.manifest;
      const range = `${pythons[0] ?? ''}–${pythons.at(-1) ?? ''}`;
      const list = seen.map((one) => `${one.python} (${one.version})`).join(', ') || vscode.l10n.t('none');
      await this.failed(
        vscode.l10n.t('opdev needs Python {0}; on PATH: {1}. Install one (Debian and Ubuntu: “apt install python3”), then try again.', range, list),
      );
      return false;
    }
    log().info(`making ${this.where.folder}/${this.where.name} with ${base.python} (${base.version})`);
    const title = vscode.l10n.t('opdev: making a Python environment');
    await vscode.window.withProgress(
      { location: vscode.ProgressLocation.Notification, title, cancellable: true },
      (progress, token) => {
        const stop = new AbortController();
        token.onCancellationRequested(() => stop.abort(new NotMade('cancelled', 'cancelled')));
        return make(this.where, found, base, stop.signal, (step) => progress.report({ message: said(step) }));
      },
    );
    return true;
  }

  private async failed(text: string): Promise<void> {
    const again = vscode.l10n.t('Try again');
    const choose = vscode.l10n.t('Choose Python…');
    const showLog = vscode.l10n.t('Show log');
    const buttons = this.found ? [again, choose, showLog] : [choose, showLog];
    void vscode.window.showErrorMessage(text, ...buttons).then((chosen) => {
      if (chosen === again) {
        return this.make();
      }
      if (chosen === choose) {
        return vscode.commands.executeCommand('opdev.choosePython');
      }
      if (chosen === showLog) {
        log().show();
      }
      return undefined;
    });
    return Promise.resolve();
  }
}

/** A setting that names a Python without opdev would hide the environment that was just made. */
async function forgetSetting(): Promise<void> {
  const section = vscode.workspace.getConfiguration('opdev');
  const set = section.inspect<string>('python');
  if (set?.workspaceValue) {
    await section.update('python', undefined, vscode.ConfigurationTarget.Workspace);
  }
  if (set?.globalValue) {
    await section.update('python', undefined, vscode.ConfigurationTarget.Global);
  }
}

/** Why nothing was found, in one sentence. */
function reason(tried: readonly Tried[], asked: boolean): string {
  const old = tried.find((one) => one.answer?.opdev && compare(one.answer.opdev, OLDEST_OPDEV) < 0);
  if (old) {
    return vscode.l10n.t('opdev {0} in {1} is too old for this extension, which needs {2}.', old.answer?.opdev ?? '', old.candidate.python, OLDEST_OPDEV);
  }
  const first = tried[0];
  if (asked && first) {
    return first.answer
      ? vscode.l10n.t('{0} (setting opdev.python) has no opdev.', first.candidate.python)
      : vscode.l10n.t('{0} (setting opdev.python) does not run.', first.candidate.python);
  }
  return vscode.l10n.t('No Python with opdev was found.');
}

function said(step: Step): string {
  switch (step) {
    case 'waiting':
      return vscode.l10n.t('another window is making it');
    case 'environment':
      return vscode.l10n.t('creating it');
    case 'packages':
      return vscode.l10n.t('installing the packages');
    case 'check':
      return vscode.l10n.t('trying it');
  }
}

function lastLine(output: string): string {
  return output.trim().split('\n').at(-1)?.trim() ?? '';
}
