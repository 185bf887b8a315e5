/** Outcome of commands that check for mistakes. */
import { EXIT, type Problem, printProblem, problemJson } from '../../project/failure.ts';
import type { AcceptedWarning } from '../../project/lint/lint.ts';
import { counted } from '../../util/counted.ts';
import { type CommandContext, type CommandOutcome, flagOption, textOption } from '../context.ts';

/** Applies `--fail-on`: true if the command exits with 1. */
export function isFailing(context: CommandContext, severities: Iterable<string>): boolean {
  const fails = textOption(context, 'failOn') === 'warning' ? ['error', 'warning'] : ['error'];
  return [...severities].some((severity) => fails.includes(severity));
}

/**
 * All findings are printed, and are `errors` of `--json`, warnings with their severity. Accepted warnings are counted; `--verbose` and
 * `--json` list them.
 */
export function findingsOutcome(
  context: CommandContext,
  problems: readonly Problem[],
  accepted: readonly AcceptedWarning[],
): CommandOutcome {
  const severities = problems.map(({ severity = 'error' }) => severity);
  const errors = severities.filter((severity) => severity === 'error').length;
  const warnings = problems.length - errors;
  const counts = [...(errors === 0 ? [] : [counted(errors, 'error')]), ...(warnings === 0 ? [] : [counted(warnings, 'warning')])];
  const head = counts.length === 0 ? 'nothing found' : counts.join(', ');
  const tail = accepted.length === 0 ? '' : `, ${counted(accepted.length, 'accepted warning')}`;
  const list = flagOption(context, 'verbose')
    ? accepted.map(({ warning, reason }) => `accepted: ${printProblem(warning)}; reason: ${reason}`)
    : [];
  return {
    exit: isFailing(context, severities) ? EXIT.failed : EXIT.done,
    problems,
    text: [`${head}${tail}`, ...list].join('\n'),
    data: { accepted: accepted.map(({ warning, reason }) => ({ ...problemJson(warning), reason })) },
  };
}
