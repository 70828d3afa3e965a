// One class for each kind of line in the operators view.
import * as vscode from 'vscode';
import type { Check, OperatorStatus, PhaseState, Place, RunRecord } from '../protocol';
import { going } from '../protocol';

export type Node = OperatorNode | PhaseNode | CheckNode | RunsNode | RunNode | ProblemNode;

const icon = (name: string, color?: string): vscode.ThemeIcon =>
  new vscode.ThemeIcon(name, color ? new vscode.ThemeColor(color) : undefined);

/** It stands still: one that turns is drawn sixty times a second, and where no graphics processor draws it (code-server, a
 * remote desktop) that takes a third of a processor from what runs and from who types. What moves is the text beside it. */
const underway = (): vscode.ThemeIcon => icon('sync', 'charts.blue');

export class OperatorNode extends vscode.TreeItem {
  constructor(readonly status: OperatorStatus) {
    super(status.name, vscode.TreeItemCollapsibleState.Collapsed);
    this.id = status.root;
    this.contextValue = kindOf(status) + (status.running.length ? '.running' : '');
    const live = status.running[0];
    this.description = live ? runText(live.text, live.percent) : status.next;
    this.tooltip = new vscode.MarkdownString(`**${status.name}**\n\n${status.why}\n\n${status.next}`);
    this.iconPath = live ? underway() : icon(status.complete ? 'pass-filled' : 'circuit-board', status.complete ? 'testing.iconPassed' : undefined);
  }

  get root(): string {
    return this.status.root;
  }
}

export class PhaseNode extends vscode.TreeItem {
  constructor(
    readonly root: string,
    readonly phase: PhaseState,
    current: boolean,
    running: boolean,
  ) {
    super(
      phase.title,
      phase.checks.length
        ? current
          ? vscode.TreeItemCollapsibleState.Expanded
          : vscode.TreeItemCollapsibleState.Collapsed
        : vscode.TreeItemCollapsibleState.None,
    );
    this.id = `${root}#${phase.id}`;
    this.contextValue = (phase.runs ? 'phase' : 'stage') + (running ? '.running' : '');
    this.description = phase.why;
    this.tooltip = phase.why;
    this.iconPath = running ? underway() : phaseIcon(phase, current);
  }
}

/** What the menus of its line are for. */
function kindOf(status: OperatorStatus): string {
  return status.workflow === 'shmem' ? 'operator' : status.phases.some((phase) => phase.runs) ? 'stages.verify' : 'stages';
}

function phaseIcon(phase: PhaseState, current: boolean): vscode.ThemeIcon {
  switch (phase.state) {
    case 'open':
      return icon('pass', 'testing.iconPassed');
    case 'closed':
      return current ? icon('circle-large-filled', 'charts.yellow') : icon('error', 'testing.iconFailed');
    case 'skipped':
      return icon('debug-step-over', 'testing.iconSkipped');
    case 'ahead':
      return icon('circle-large-outline', 'testing.iconUnset');
  }
}

export class CheckNode extends vscode.TreeItem {
  constructor(
    id: string,
    readonly check: Check,
  ) {
    super(check.title, vscode.TreeItemCollapsibleState.None);
    this.id = id;
    this.contextValue = 'check';
    this.description = check.detail;
    this.tooltip = new vscode.MarkdownString(`${check.detail}\n\n${check.opens}`);
    this.iconPath = icon('close', 'testing.iconFailed');
    if (check.place) {
      this.command = openPlace(check.place);
    }
  }
}

export class RunsNode extends vscode.TreeItem {
  constructor(readonly root: string) {
    super(vscode.l10n.t('Runs'), vscode.TreeItemCollapsibleState.Collapsed);
    this.id = `${root}#runs`;
    this.contextValue = 'runs';
    this.iconPath = icon('history');
  }
}

export class RunNode extends vscode.TreeItem {
  constructor(readonly record: RunRecord) {
    super(new Date(record.started * 1000).toLocaleString(), vscode.TreeItemCollapsibleState.None);
    this.id = `${record.root}#run#${record.run}`;
    this.contextValue = going(record.state) ? 'run.running' : 'run';
    const simulated = record.backend === 'sim' ? ` · ${vscode.l10n.t('simulated')}` : '';
    this.description = `${record.request} · ${stateText(record.state)}${simulated}`;
    this.tooltip = `${record.run}\n${record.message}`;
    this.iconPath = RUN_ICONS[record.state]();
    this.command = { command: 'opdev.showRunLog', title: vscode.l10n.t('Show log'), arguments: [this] };
  }

  get root(): string {
    return this.record.root;
  }
}

const RUN_ICONS: Record<RunRecord['state'], () => vscode.ThemeIcon> = {
  starting: underway,
  running: underway,
  passed: () => icon('pass', 'testing.iconPassed'),
  failed: () => icon('error', 'testing.iconFailed'),
  blocked: () => icon('debug-pause', 'charts.yellow'),
  stopped: () => icon('debug-stop'),
  lost: () => icon('question', 'charts.yellow'),
};

export class ProblemNode extends vscode.TreeItem {
  constructor(root: string, problem: string) {
    super(root.replace(/.*\//, ''), vscode.TreeItemCollapsibleState.None);
    this.description = problem;
    this.tooltip = problem;
    this.iconPath = icon('warning', 'list.warningForeground');
  }
}

export function stateText(state: RunRecord['state']): string {
  switch (state) {
    case 'starting':
      return vscode.l10n.t('starting');
    case 'running':
      return vscode.l10n.t('running');
    case 'passed':
      return vscode.l10n.t('passed');
    case 'failed':
      return vscode.l10n.t('failed');
    case 'blocked':
      return vscode.l10n.t('waits for a person');
    case 'stopped':
      return vscode.l10n.t('stopped');
    case 'lost':
      return vscode.l10n.t('lost');
  }
}

function runText(text: string, percent: number | null): string {
  return percent === null ? text : `${text} ${percent}%`;
}

function openPlace(place: Place): vscode.Command {
  const at = new vscode.Range(place.line, 0, place.line, 0);
  return {
    command: 'vscode.open',
    title: vscode.l10n.t('Open'),
    arguments: [vscode.Uri.parse(place.uri), { selection: at }],
  };
}
