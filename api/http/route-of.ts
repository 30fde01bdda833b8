/**
 * The pattern of the path that answered a request. An address that nothing is at has no name of its own, so that nobody can make
 * up names.
 */
export function routeOf(ctx: { state: { route?: string } }): string {
  const matched: unknown = ctx.state.route ?? Reflect.get(ctx, '_matchedRoute');
  return typeof matched === 'string' ? matched : 'none';
}
