import { playAttacks } from './attack.ts';
import { webhookAttacks } from './lists/webhooks.ts';

playAttacks(webhookAttacks);
