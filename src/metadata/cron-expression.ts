import { CronPattern } from 'croner';
import { type Codec, leaf, parseFailed, text } from './codec.ts';

const FIELD_COUNT = 5;

/** Returns what is wrong with a cron expression, or null. */
function cronProblem(expression: string): string | null {
  const fields = expression.trim().split(/\s+/);
  if (fields.length !== FIELD_COUNT)
    return `a cron expression has ${FIELD_COUNT} fields, this one has ${expression.trim() === '' ? 0 : fields.length}`;
  try {
    new CronPattern(fields.join(' '));
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** A cron expression with five fields: minute, hour, day of the month, month, day of the week. */
export const cronExpression: Codec<string> = leaf(
  'CronSchedule',
  (json, path) => {
    const expression = text.decode(json, path);
    const problem = cronProblem(expression);
    if (problem !== null) throw parseFailed(`the cron expression ${JSON.stringify(expression)} is not valid: ${problem}`, path);
    return expression;
  },
  (value) => value,
  { description: 'A cron expression with minute, hour, day of the month, month and day of the week, in UTC: `0 3 * * *`.' },
);
