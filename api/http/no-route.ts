import type { AppMiddleware } from './app-context.ts';
import { methodNotAllowed, pathNotFound } from './errors.ts';

/** The end of the line: 405 with Allow where only the method is wrong, 404 everywhere else. */
export function createNoRoute(): AppMiddleware {
  return (ctx) => {
    const matched: unknown = Reflect.get(ctx, 'matched');
    const methods = new Set(Array.isArray(matched) ? matched.flatMap(methodsOf) : []);
    if (methods.size === 0) throw pathNotFound();
    const allowed = [...methods, 'OPTIONS'].toSorted().join(', ');
    if (ctx.method !== 'OPTIONS') throw methodNotAllowed(allowed);
    ctx.status = 204;
    ctx.set('Allow', allowed);
  };
}

/** The methods of a route that the router found by its path. */
function methodsOf(layer: unknown): string[] {
  if (typeof layer !== 'object' || layer === null || !('methods' in layer) || !Array.isArray(layer.methods)) return [];
  return layer.methods.filter((method) => typeof method === 'string');
}
