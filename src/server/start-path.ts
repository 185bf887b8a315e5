/** The secret path below which the tasks at start of the service reach all endpoints. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { originForm } from './origin-form.ts';

/** @param isOwn the request comes from a task at start */
export type Receive = (request: IncomingMessage, response: ServerResponse, isOwn: boolean) => void;

/**
 * Receives the requests of a server.
 * @param startPath `null` for none
 * @returns closes the path, which then costs nothing
 */
export function receiveRequests(server: Server, startPath: string | null, receive: Receive): () => void {
  const ordinary = (request: IncomingMessage, response: ServerResponse): void => receive(request, response, false);
  if (startPath === null) {
    server.on('request', ordinary);
    return () => undefined;
  }
  const atStart = (request: IncomingMessage, response: ServerResponse): void => {
    const url = originForm(request.url);
    const isOwn = url.startsWith(`${startPath}/`);
    // The secret path stays out of the log.
    if (isOwn) request.url = url.slice(startPath.length);
    receive(request, response, isOwn);
  };
  server.on('request', atStart);
  return () => void server.off('request', atStart).on('request', ordinary);
}
