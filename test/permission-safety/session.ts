/** Sessions and HTTP requests of the cases. */
import type { JsonObject } from '../../src/util/json.ts';
import type { Choices } from './choices.ts';
import type { Request } from './query.ts';
import type { Session } from './world.ts';

export interface Asked {
  readonly role: string;
  readonly session: Session;
  /** Endpoint of GraphQL or of data operations. */
  readonly request: Request | JsonObject;
}

export function someSession(choices: Choices): Session {
  return { 'user-id': String(choices.int(5)), name: choices.pick(['a', 'ab', 'b']), list: choices.pick(['{1,2}', '{0}', '{2,3,4}']) };
}

/** The body of the response, byte for byte. */
export async function ask(url: string, { role, session, request }: Asked): Promise<string> {
  const answer = await post(`${url}/${'query' in request ? 'v1/graphql' : 'v2/query'}`, role, session, JSON.stringify(request));
  return answer.replaceAll(/"locations":\[[^\]]*\],/g, '');
}

async function post(url: string, role: string, session: Session, body: string): Promise<string> {
  const headers = new Headers({ 'content-type': 'application/json', 'x-svc-role': role });
  for (const [name, value] of Object.entries(session)) headers.set(`x-svc-${name}`, value);
  const response = await fetch(url, { method: 'POST', headers, body });
  return response.text();
}
