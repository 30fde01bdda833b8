import { createEgress } from '../../../lib/network/egress.ts';

/** Egress for tests whose servers run on this machine. */
export const loopbackEgress = createEgress({ privateHosts: ['127.0.0.1', 'localhost'] });
