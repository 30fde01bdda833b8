/**
 * Returns the path pattern of the route that answered a request. All unmatched paths share the name `none`, so that
 * clients cannot create new names.
 */
export function routeOf(ctx: { state: { route?: string } }): string {
  const matched: unknown = ctx.state.route ?? Reflect.get(ctx, '_matchedRoute');
  return typeof matched === 'string' ? matched : 'none';
}
