/** The service behind Debian's nginx with the configuration of `deploy/nginx`. Skipped with a message if nginx is not installed. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  CLIENTS,
  expectedAnswers,
  type ExpectedAnswer,
  randoms,
  sha256,
  startCachedDocuments,
  urlOf,
} from '../support/cached-documents.ts';
import { cases, SEED } from '../support/deep.ts';
import { freePort } from '../support/free-port.ts';
import type { TestService } from '../support/service.ts';

const IS_INSTALLED = spawnSync('nginx', ['-v']).error === undefined;
const TEMPORARY = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];

let service: TestService;
let folder: string;
let nginx: ChildProcess;
let url: string;

if (!IS_INSTALLED) console.warn('the tests behind nginx are skipped: nginx is not installed');

describe.skipIf(!IS_INSTALLED)('behind nginx', () => {
  beforeAll(async () => {
    service = await startCachedDocuments();
    folder = mkdtempSync(join(tmpdir(), 'svc-nginx-'));
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    const sample = readFileSync(join(import.meta.dirname, '..', '..', 'deploy', 'nginx', 'svc.conf'), 'utf8');
    const own = sample
      .replace('127.0.0.1:8080', service.url.replace('http://', ''))
      .replace('listen 80;', `listen 127.0.0.1:${port};`)
      .replace('/var/cache/nginx/svc', join(folder, 'cache'));
    writeFileSync(join(folder, 'svc.conf'), own);
    writeFileSync(
      join(folder, 'nginx.conf'),
      `user ${userInfo().username}; daemon off; worker_processes 1; pid ${folder}/pid; error_log ${folder}/error.log;
       events { worker_connections 512; }
       http { access_log off; ${TEMPORARY.map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')} include ${folder}/svc.conf; }`,
    );
    nginx = spawn('nginx', ['-c', join(folder, 'nginx.conf'), '-e', join(folder, 'error.log')], { stdio: 'ignore' });
    for (let attempt = 0; ; attempt++) {
      const answered = await fetch(`${url}/livez`).catch(() => null);
      if (answered !== null) break;
      if (attempt === 100) throw new Error(`nginx does not answer: ${readFileSync(join(folder, 'error.log'), 'utf8')}`);
      await sleep(100);
    }
  });
  afterAll(async () => {
    const ended = new Promise((resolve) => nginx.once('exit', resolve));
    nginx.kill('SIGQUIT');
    await ended;
    await service.stop();
    rmSync(folder, { recursive: true });
  });

  const get = (path: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
    fetch(url + path, { headers: { accept: 'application/json', ...headers } });
  const status = (answer: Response): string | null => answer.headers.get('x-cache-status');

  it('anonymous clients make the service answer once', async () => {
    expect(status(await get(urlOf('note', 3)))).toBe('MISS');
    const before = service.observations.length;
    const answers = await Promise.all(Array.from({ length: 40 }, () => get(urlOf('note', 3))));
    expect(answers.filter((answer) => status(answer) === 'HIT')).toHaveLength(40);
    expect(service.observations.slice(before).filter(({ kind }) => kind === 'http')).toEqual([]);
    const [first] = answers;
    const known = await get(urlOf('note', 3), { 'if-none-match': first?.headers.get('etag') ?? '' });
    expect(known.status).toBe(304);
  });

  it('requests of users do not wait for each other', async () => {
    await service.sql('create function slow() returns setof note as $$ select note.* from note, pg_sleep(0.3) $$ language sql stable');
    await service.metadata('pg_track_function', { function: 'slow' });
    await service.metadata('pg_create_function_permission', { function: 'slow', role: 'user' }).catch(() => null);
    const query = 'query Slow { slow { id } }';
    await service.metadata('add_query_to_collection', { collection_name: 'web', query_name: 'slow', query });
    const began = performance.now();
    const answers = await Promise.all(Array.from({ length: 8 }, () => get('/v1/graphql?documentId=slow', CLIENTS['user a'])));
    expect(await answers[0]?.json()).toEqual({ data: { slow: [{ id: 1 }] } });
    // One after the other, nginx looks for an answer every 500 ms.
    expect(performance.now() - began).toBeLessThan(2400);
  });

  it('no client gets the answer of another one', async () => {
    const requests = await expectedAnswers(service);
    const random = randoms(SEED);
    let hits = 0;
    for (let i = 0; i < cases(20_000, 800); i++) {
      const { client, url: path, expected } = requests[random(requests.length)] as ExpectedAnswer;
      const page: Record<string, string> = random(4) === 0 ? { origin: 'https://app.example' } : {};
      const answer = await get(path, { 'accept-encoding': random(2) === 0 ? 'gzip' : 'identity', ...page, ...CLIENTS[client] });
      if (status(answer) === 'HIT') hits += 1;
      expect([client, path, await answer.text()]).toEqual([client, path, expected]);
    }
    expect(hits).toBeGreaterThan(20);
  });

  it('an answer is checked again after its time, and sent again only if it has changed', async () => {
    const first = await get(urlOf('clock'));
    expect([status(first), await first.text()]).toEqual(['MISS', '{"data":{"clock":[{"at":0}]}}']);
    await sleep(3200);
    const same = await get(urlOf('clock'));
    expect([status(same), same.headers.get('etag')]).toEqual(['REVALIDATED', first.headers.get('etag')]);
    await service.sql('update clock set at = 1');
    await sleep(3200);
    const changed = await get(urlOf('clock'));
    expect([status(changed), await changed.text()]).toEqual(['EXPIRED', '{"data":{"clock":[{"at":1}]}}']);
  });

  it('an unknown document is found as soon as it is there', async () => {
    const query = 'query Later @cached { note { id } }';
    const path = `/v1/graphql?documentId=sha256:${sha256(query)}`;
    const unknown = await get(path);
    expect(await unknown.text()).toContain('unknown document');
    await service.metadata('add_query_to_collection', { collection_name: 'web', query_name: 'later', query });
    expect(await (await get(path)).json()).toEqual({ data: { note: [{ id: 1 }, { id: 3 }] } });
  });
});
