/** Outcome of commands that check for mistakes. */
import { EXIT, type Problem } from '../../project/failure.ts';
import { counted } from '../../util/counted.ts';
import { type CommandContext, type CommandOutcome, textOption } from '../context.ts';

/** Applies `--fail-on`: true if the command exits with 1. */
export function isFailing(context: CommandContext, severities: Iterable<string>): boolean {
  const fails = textOption(context, 'failOn') === 'warning' ? ['error', 'warning'] : ['error'];
  return [...severities].some((severity) => fails.includes(severity));
}

/** All findings are printed, and are `errors` of `--json`, warnings with their severity. */
export function findingsOutcome(context: CommandContext, problems: readonly Problem[]): CommandOutcome {
  if (problems.length === 0) return { text: 'nothing found' };
  const severities = problems.map(({ severity = 'error' }) => severity);
  const errors = severities.filter((severity) => severity === 'error').length;
  const warnings = problems.length - errors;
  const counts = [...(errors === 0 ? [] : [counted(errors, 'error')]), ...(warnings === 0 ? [] : [counted(warnings, 'warning')])];
  return { exit: isFailing(context, severities) ? EXIT.failed : EXIT.done, problems, text: counts.join(', ') };
}
