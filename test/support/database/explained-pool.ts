import { Pool } from 'pg';

/** The parts of a plan node that the tests use. */
interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Actual Rows'?: number;
  'Actual Loops'?: number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  'Rows Removed by Join Filter'?: number;
  Plans?: PlanNode[];
}

/** An executed statement, including those inside functions, triggers and cascades. */
export interface ExecutedStatement {
  text: string;
  ms: number;
  plan: PlanNode;
}

export interface ExplainedPool extends AsyncDisposable {
  pool: Pool;
  /** Returns the statements executed since the last call. */
  take(): ExecutedStatement[];
}

const settings = {
  session_preload_libraries: 'auto_explain',
  'auto_explain.log_min_duration': 0,
  'auto_explain.log_analyze': 'on',
  'auto_explain.log_timing': 'off',
  'auto_explain.log_nested_statements': 'on',
  'auto_explain.log_format': 'json',
  'auto_explain.log_level': 'notice',
};

/** Creates a pool that receives the actual plan of each statement from PostgreSQL's auto_explain. */
export function createExplainedPool(url: string): ExplainedPool {
  const options = Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`);
  const pool = new Pool({ connectionString: url, max: 10, options: options.join(' ') });
  let executed: ExecutedStatement[] = [];
  pool.on('error', () => undefined);
  pool.on('connect', (client) => {
    client.on('notice', ({ message = '' }) => {
      const [, ms, json] = /^duration: ([\d.]+) ms {2}plan:\n([^]*)$/.exec(message) ?? [];
      if (json === undefined) return;
      const { 'Query Text': text, Plan: plan } = JSON.parse(json);
      executed.push({ text, ms: Number(ms), plan });
    });
  });
  return {
    pool,
    take() {
      const taken = executed;
      executed = [];
      return taken;
    },
    [Symbol.asyncDispose]: () => pool.end(),
  };
}

export interface Examined {
  /** The largest number of rows that a single node read or filtered out. */
  rows: number;
  /** Growing tables with a sequential scan. */
  scanned: string[];
}

/** Returns what a plan read from growing tables. */
export function examinedBy(plan: PlanNode, growing: ReadonlySet<string>): Examined {
  const inside = (plan.Plans ?? []).map((below) => examinedBy(below, growing));
  const loops = plan['Actual Loops'] ?? 1;
  const removed =
    (plan['Rows Removed by Filter'] ?? 0) +
    (plan['Rows Removed by Index Recheck'] ?? 0) +
    (plan['Rows Removed by Join Filter'] ?? 0);
  const table = plan['Relation Name'];
  const read = table !== undefined && growing.has(table) && plan['Node Type'] !== 'ModifyTable';
  const isScan = read && plan['Node Type'] === 'Seq Scan' && loops > 0;
  return {
    rows: Math.max(loops * (removed + (read ? (plan['Actual Rows'] ?? 0) : 0)), ...inside.map(({ rows }) => rows)),
    scanned: [...(isScan ? [table] : []), ...inside.flatMap(({ scanned }) => scanned)],
  };
}
