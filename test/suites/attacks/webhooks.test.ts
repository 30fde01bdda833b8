import { playAttacks } from './stage/attack.ts';
import { webhookAttacks } from './lists/webhooks.ts';

playAttacks(webhookAttacks);
