import { parseArgs } from 'node:util';
import { z } from 'zod';

export interface Tool<Shape extends z.ZodRawShape> {
  /** The command before the options, such as "npm run fuzz --". */
  command: string;
  /** One or two sentences. */
  about: string;
  /** By name. An option whose schema takes `true` is a flag; any other takes text. */
  options?: Shape;
  /** Arguments besides the options: their name in the help, and the accepted ones if they are limited. */
  words?: { name: string; known?: readonly string[] };
}

export type ToolArguments<Shape extends z.ZodRawShape> =
  | { kind: 'run'; options: z.output<z.ZodObject<Shape>>; words: string[] }
  | { kind: 'help'; text: string }
  | { kind: 'refused'; sentence: string };

/** An option that is a whole number. */
export const wholeNumber = () =>
  z
    .string()
    .regex(/^\d{1,15}$/, 'must be a whole number')
    .transform(Number);

/** An option without a value. */
export const flag = () => z.boolean().default(false);

/** The option `--seed` of tools that choose at random. */
export const seedOption = () =>
  wholeNumber()
    .default(() => Math.floor(Math.random() * 1e6))
    .describe('repeats the run that printed this seed');

const isFlag = (schema: z.core.$ZodType) => z.safeParse(schema, true).success;

function helpOf({ command, about, options = {}, words }: Tool<z.ZodRawShape>): string {
  const rows = Object.entries(options).map(([name, schema]) => {
    const standard = schema instanceof z.ZodDefault && name !== 'seed' ? schema.def.defaultValue : undefined;
    const text = z.globalRegistry.get(schema)?.description ?? '';
    const isShown = standard !== undefined && standard !== false && standard !== '';
    return [`--${name}${isFlag(schema) ? '' : ' VALUE'}`, isShown ? `${text} (default: ${standard})` : text];
  });
  rows.push(['--help', 'prints this']);
  const width = Math.max(...rows.map(([option = '']) => option.length));
  const known = words?.known === undefined ? [] : [`${words.name}: ${words.known.join(', ')}`, ''];
  return [
    `Usage: ${[command, '[options]', ...(words === undefined ? [] : [`[${words.name}…]`])].join(' ')}`,
    '',
    about,
    '',
    ...known,
    ...rows.map(([option = '', text = '']) => `  ${option.padEnd(width)}  ${text}`),
  ].join('\n');
}

/** Parses the arguments of a tool: its options and words, its help, or a sentence about the first thing that is wrong. */
export function parseTool<Shape extends z.ZodRawShape>(tool: Tool<Shape>, args: string[]): ToolArguments<Shape> {
  const { command, options: shape, words } = tool;
  const hint = `"${command} --help" lists the options.`;
  const refused = (problem: string) => ({ kind: 'refused', sentence: `${problem} ${hint}` }) as const;
  const known = new Map(Object.entries<z.core.$ZodType>(shape ?? {}));
  const { tokens, positionals } = parseArgs({
    args,
    strict: false,
    tokens: true,
    options: Object.fromEntries(
      [...known].map(([name, schema]) => [name, { type: isFlag(schema) ? 'boolean' : 'string' }]),
    ),
  });
  const given: Record<string, string | boolean> = {};
  for (const token of tokens) {
    if (token.kind !== 'option') continue;
    const { name, rawName, value } = token;
    if (name === 'help' || name === 'h') return { kind: 'help', text: helpOf(tool) };
    const schema = known.get(name);
    if (schema === undefined) return refused(`There is no option ${rawName}.`);
    if (isFlag(schema) && value !== undefined) return refused(`The option ${rawName} takes no value.`);
    if (!isFlag(schema) && value === undefined) return refused(`The option ${rawName} needs a value.`);
    given[name] = value ?? true;
  }
  const strange = positionals.find((word) => words === undefined || words.known?.includes(word) === false);
  if (strange !== undefined) return refused(`The argument "${strange}" is not known.`);
  const parsed = z.object<Shape>(shape).safeParse(given);
  if (parsed.success) return { kind: 'run', options: parsed.data, words: positionals };
  const [issue] = parsed.error.issues;
  return refused(`The option --${issue?.path.join('.')} ${issue?.message}, not "${given[String(issue?.path[0])]}".`);
}

/** Returns the options and words that this process was started with. Ends the process after it has printed help or an error. */
export function readTool<Shape extends z.ZodRawShape>(
  tool: Tool<Shape>,
  args = process.argv.slice(2),
): { options: z.output<z.ZodObject<Shape>>; words: string[] } {
  const read = parseTool(tool, args);
  if (read.kind === 'run') return read;
  if (read.kind === 'help') process.stdout.write(`${read.text}\n`);
  else process.stderr.write(`${read.sentence}\n`);
  process.exit(read.kind === 'help' ? 0 : 2);
}
