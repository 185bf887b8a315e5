/** Routes a path to its endpoint. */
import { SvcError } from '../../errors/svc-error.ts';
import { REST_METHODS, type RestMethod } from '../../metadata/rest-endpoint.ts';
import type { EndpointInfo } from '../../schema/stored/endpoint.ts';

export interface RestMatch {
  readonly info: EndpointInfo;
  /** Path segments by variable, as sent. */
  readonly pathValues: ReadonlyMap<string, string>;
}

export type RestRouter = (method: string, segments: readonly string[]) => RestMatch;

/** Error for an endpoint that does not support the method. */
export class MethodNotAllowed extends SvcError {
  readonly allowed: readonly string[];

  constructor(allowed: readonly string[]) {
    super('method-not-allowed', `Allowed methods: ${allowed.join(', ')}`);
    this.allowed = allowed;
  }
}

interface Node {
  readonly literals: Map<string, Node>;
  variable: Node | null;
  readonly endpoints: EndpointInfo[];
}

const node = (): Node => ({ literals: new Map(), variable: null, endpoints: [] });
const routers = new WeakMap<readonly EndpointInfo[], RestRouter>();

/**
 * Returns the router of a list of endpoints, cached.
 * The router throws SvcError: not-found (404), method-not-allowed (405), and unexpected (500) if several endpoints match.
 */
export function routerOf(endpoints: readonly EndpointInfo[]): RestRouter {
  let router = routers.get(endpoints);
  if (router === undefined) {
    router = createRouter(endpoints);
    routers.set(endpoints, router);
  }
  return router;
}

function createRouter(endpoints: readonly EndpointInfo[]): RestRouter {
  const root = node();
  for (const info of endpoints) {
    let at = root;
    for (const segment of info.segments) {
      if (segment.kind === 'variable') {
        at.variable ??= node();
        at = at.variable;
      } else {
        const next = at.literals.get(segment.text) ?? node();
        at.literals.set(segment.text, next);
        at = next;
      }
    }
    at.endpoints.push(info);
  }
  return (method, segments) => {
    const found = matching(root, segments);
    if (found.length === 0) throw new SvcError('not-found', 'Endpoint not found', { status: 404 });
    const allowing = found.filter(({ endpoint }) => endpoint.methods.includes(method as RestMethod));
    const [info, ...others] = allowing;
    if (info === undefined) {
      const allowed = REST_METHODS.filter((each) => found.some(({ endpoint }) => endpoint.methods.includes(each)));
      throw new MethodNotAllowed(allowed);
    }
    if (others.length > 0) throw new SvcError('unexpected', 'Multiple endpoints match request');
    return { info, pathValues: valuesOf(info, segments) };
  };
}

function matching(root: Node, segments: readonly string[]): readonly EndpointInfo[] {
  let level = [root];
  for (const text of segments) {
    level = level.flatMap(({ literals, variable }) => [literals.get(text) ?? [], variable ?? []].flat());
    if (level.length === 0) return [];
  }
  return level.flatMap(({ endpoints }) => endpoints);
}

function valuesOf({ segments }: EndpointInfo, texts: readonly string[]): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  segments.forEach((segment, i) => {
    if (segment.kind === 'variable') values.set(segment.name, texts[i] as string);
  });
  return values;
}
