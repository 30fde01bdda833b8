import type { AppMiddleware } from './app-context.ts';
import { methodNotAllowed, pathNotFound } from './errors.ts';

/** Creates the last middleware. It answers 405 with Allow when only the method is wrong, and 404 otherwise. */
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

/** Returns the methods of a route that matched by its path. */
function methodsOf(layer: unknown): string[] {
  if (typeof layer !== 'object' || layer === null || !('methods' in layer) || !Array.isArray(layer.methods)) return [];
  return layer.methods.filter((method) => typeof method === 'string');
}
