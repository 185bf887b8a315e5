/** How commands end that look for mistakes. */
import { EXIT, type Problem } from '../../project/failure.ts';
import { counted } from '../../util/counted.ts';
import { type Call, type Outcome, textOption } from '../call.ts';

/** Whether findings end the command with 1, as --fail-on says. */
export function isFailing(call: Call, severities: Iterable<string>): boolean {
  const fails = textOption(call, 'failOn') === 'warning' ? ['error', 'warning'] : ['error'];
  return [...severities].some((severity) => fails.includes(severity));
}

/** All findings are told, and are `errors` of --json, those that do not fail with their severity. */
export function findingsOutcome(call: Call, problems: readonly Problem[]): Outcome {
  if (problems.length === 0) return { text: 'nothing found' };
  const severities = problems.map(({ severity = 'error' }) => severity);
  const errors = severities.filter((severity) => severity === 'error').length;
  const warnings = problems.length - errors;
  const told = [...(errors === 0 ? [] : [counted(errors, 'error')]), ...(warnings === 0 ? [] : [counted(warnings, 'warning')])];
  return { exit: isFailing(call, severities) ? EXIT.failed : EXIT.done, problems, text: told.join(', ') };
}
