/** `svc health`: what a container asks itself. Only what is needed is loaded, for it is asked every few seconds. */
import { request } from 'node:http';
import { EXIT } from '../../project/failure.ts';
import type { Call, Outcome } from '../call.ts';

const DEFAULT_PORT = 8080;
const DEFAULT_SECONDS = 3;

export function runHealth({ options, environment }: Call): Promise<Outcome> {
  const path = options['ready'] === true ? '/readyz' : '/livez';
  const given = options['url'] ?? `http://127.0.0.1:${environment['SVC_GRAPHQL_SERVER_PORT'] || DEFAULT_PORT}`;
  const seconds = Number(options['timeout'] ?? DEFAULT_SECONDS);
  const failed = (message: string, code = 'unhealthy', exit: Outcome['exit'] = EXIT.failed): Outcome => ({
    exit,
    problems: [{ code, message }],
  });
  if (typeof given !== 'string' || !URL.canParse(path, given) || !given.startsWith('http://')) {
    return Promise.resolve(failed('--url is to be an address like http://127.0.0.1:8080', 'usage', EXIT.usage));
  }
  if (!(seconds > 0 && seconds <= 3600)) return Promise.resolve(failed('--timeout is to be a number of seconds', 'usage', EXIT.usage));
  return new Promise((resolve) => {
    const asked = request(new URL(path, given), { agent: false }, (answer) => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (piece: string) => {
        if (text.length < 1000) text += piece;
      });
      answer.on('end', () => resolve(answer.statusCode === 200 ? { text: 'OK', data: { status: text } } : failed(text, 'unhealthy')));
      answer.on('error', (error) => resolve(failed(error.message)));
    });
    // For all of the answer: one that comes in drops is none.
    setTimeout(() => {
      resolve(failed(`${path}: no answer within ${seconds} s`));
      asked.destroy();
    }, seconds * 1000).unref();
    asked.on('error', (error) => resolve(failed(`${path}: ${error.message}`)));
    asked.end();
  });
}
