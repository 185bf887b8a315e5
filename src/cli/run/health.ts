/** `svc health`, for container health checks. It runs every few seconds and loads as little as possible. */
import { request } from 'node:http';
import { EXIT } from '../../project/failure.ts';
import type { CommandContext, CommandOutcome } from '../context.ts';

const DEFAULT_PORT = 8080;
const DEFAULT_SECONDS = 3;

export function runHealth({ options, environment }: CommandContext): Promise<CommandOutcome> {
  const path = options['ready'] === true ? '/readyz' : '/livez';
  const base = options['url'] ?? `http://127.0.0.1:${environment['SVC_GRAPHQL_SERVER_PORT'] || DEFAULT_PORT}`;
  const seconds = Number(options['timeout'] ?? DEFAULT_SECONDS);
  const failed = (message: string, code = 'unhealthy', exit: CommandOutcome['exit'] = EXIT.failed): CommandOutcome => ({
    exit,
    problems: [{ code, message }],
  });
  if (typeof base !== 'string' || !URL.canParse(path, base) || !base.startsWith('http://')) {
    return Promise.resolve(failed('--url must be a URL such as http://127.0.0.1:8080', 'usage', EXIT.usage));
  }
  if (!(seconds > 0 && seconds <= 3600))
    return Promise.resolve(failed('--timeout must be a number of seconds, at most 3600', 'usage', EXIT.usage));
  return new Promise((resolve) => {
    const pending = request(new URL(path, base), { agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (piece: string) => {
        if (text.length < 1000) text += piece;
      });
      response.on('end', () => resolve(response.statusCode === 200 ? { text: 'OK', data: { status: text } } : failed(text, 'unhealthy')));
      response.on('error', (error) => resolve(failed(error.message)));
    });
    // The timeout covers the whole response.
    setTimeout(() => {
      resolve(failed(`${path}: no response within ${seconds} s`));
      pending.destroy();
    }, seconds * 1000).unref();
    pending.on('error', (error) => resolve(failed(`${path}: ${error.message}`)));
    pending.end();
  });
}
