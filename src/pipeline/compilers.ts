import type { Backend, Compiler, CompilerOptions } from '../backend/backend.ts';
import { invariant } from '../errors/svc-error.ts';
import type { RequestPipeline } from './request-pipeline.ts';

/** Creates one compiler per kind. Returns a function that returns the compiler of a source. */
export function compilersOf(backends: readonly Backend[], options: CompilerOptions): RequestPipeline['compilerOf'] {
  const compilers = new Map<string, Compiler>(backends.map((backend) => [backend.kind, backend.compiler(options)]));
  return (snapshot, source) => {
    const kind = snapshot.cache.sources.get(source)?.backend.kind;
    const compiler = kind === undefined ? undefined : compilers.get(kind);
    invariant(compiler !== undefined, `source ${source} has a compiler`);
    return compiler;
  };
}
