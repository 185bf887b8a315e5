import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { command, type Ran, startCommand } from './command.ts';
import type { TestService } from './service.ts';

/** A project in its own folder, with the command run in it against a service. */
export interface ProjectFolder {
  readonly root: string;
  write(files: Readonly<Record<string, string>>): void;
  read(path: string): string;
  svc(...args: string[]): Promise<Ran>;
  start(...args: string[]): ReturnType<typeof startCommand>;
  remove(): void;
}

/** Value of `SVC_GRAPHQL_DATABASE_URL` of the service. */
export const OWN_DATABASE = 'configuration: {connection_info: {database_url: {from_env: SVC_GRAPHQL_DATABASE_URL}}}';

export function projectFolder(service: Pick<TestService, 'url'>, env: Readonly<Record<string, string>> = {}): ProjectFolder {
  const root = mkdtempSync(join(tmpdir(), 'svc-project-'));
  const how = { cwd: root, env: { SVC_GRAPHQL_ENDPOINT: service.url, ...env } };
  return {
    root,
    write(files) {
      for (const [path, text] of Object.entries(files)) {
        mkdirSync(dirname(join(root, path)), { recursive: true });
        writeFileSync(join(root, path), text);
      }
    },
    read: (path) => readFileSync(join(root, path), 'utf8'),
    svc: (...args) => command(args, how),
    start: (...args) => startCommand(args, how),
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}
