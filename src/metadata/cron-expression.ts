import { CronPattern } from 'croner';
import { type Codec, leaf, parseFailed, text } from './codec.ts';

const FIELDS = 5;

/** What is wrong with a cron expression; null: nothing. */
function cronComplaint(expression: string): string | null {
  const fields = expression.trim().split(/\s+/);
  if (fields.length !== FIELDS)
    return `a cron expression has ${FIELDS} fields, this one has ${expression.trim() === '' ? 0 : fields.length}`;
  try {
    new CronPattern(fields.join(' '));
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** A cron expression of five fields: minute, hour, day of the month, month, day of the week. */
export const cronExpression: Codec<string> = leaf(
  'CronSchedule',
  (json, path) => {
    const expression = text.decode(json, path);
    const complaint = cronComplaint(expression);
    if (complaint !== null) throw parseFailed(`the cron expression ${JSON.stringify(expression)} is not valid: ${complaint}`, path);
    return expression;
  },
  (value) => value,
  { says: 'Minute, hour, day of the month, month and day of the week, in UTC: `0 3 * * *`.' },
);
