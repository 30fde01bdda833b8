import { playAttacks } from '../stage/attack.ts';
import { webhookAttacks } from './webhooks.ts';

playAttacks(webhookAttacks);
