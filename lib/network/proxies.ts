import { setGlobalProxyFromEnv } from 'node:http';
import { z } from 'zod';

/** HTTP is the usual scheme, as for curl and Go. */
const proxyAddress = z
  .string()
  .transform((text) => (text.includes('://') ? text : `http://${text}`))
  .refine(
    (text) => URL.canParse(text) && /^https?:\/\//i.test(text),
    'must be the address of an HTTP proxy, such as http://proxy.example.com:3128',
  );

/** The variables for proxies that programs have in common; the lower-case ones count first. */
export const proxyVariables = z.object({
  http_proxy: proxyAddress.optional(),
  HTTP_PROXY: proxyAddress.optional(),
  https_proxy: proxyAddress.optional(),
  HTTPS_PROXY: proxyAddress.optional(),
  no_proxy: z.string().optional(),
  NO_PROXY: z.string().optional(),
});

export type Proxies = ReturnType<typeof proxiesOf>;

/** Returns the proxies that the environment names, as addresses; `exceptions` are hosts, comma separated. */
export function proxiesOf(env: z.infer<typeof proxyVariables>) {
  return {
    http: env.http_proxy ?? env.HTTP_PROXY,
    https: env.https_proxy ?? env.HTTPS_PROXY,
    exceptions: env.no_proxy ?? env.NO_PROXY ?? '',
  };
}

const thisMachine = 'localhost,127.0.0.1,::1';

/**
 * Has `fetch` use the proxies in this process, except for this machine, and returns how to undo that. Connections to
 * addresses that Docket checks, such as those of repositories and webhooks, are not made by `fetch` and stay direct.
 */
export function useProxies({ http, https, exceptions }: Proxies): () => void {
  return setGlobalProxyFromEnv({
    http_proxy: http,
    https_proxy: https,
    no_proxy: `${thisMachine},${exceptions}`,
  });
}
