import { parseArgs } from 'node:util'
import { AuthError, OptionsError } from 'postern'
import type { Command, CommandEntry, FlagSpec, Surroundings } from './command.js'
import { loadConfig } from './load-config.js'
import { Refusal } from './refusal.js'

const common: Readonly<Record<string, FlagSpec>> = {
  config: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
}

export interface CommandLine {
  readonly commands: readonly CommandEntry[]
  readonly version: string
}

/** Runs what the arguments name, and resolves with the exit code. Never rejects. */
export async function run(
  line: CommandLine,
  args: readonly string[],
  surroundings: Surroundings,
): Promise<number> {
  const [first = '', ...rest] = args
  if (first === '--version' || first === '-v') {
    surroundings.out(line.version)
    return 0
  }
  const asksForHelp = ['help', '--help', '-h'].includes(first)
  const name = asksForHelp ? (rest[0] ?? '') : first
  if (name === '') {
    const write = asksForHelp ? surroundings.out : surroundings.err
    write(overview(line.commands))
    return asksForHelp ? 0 : 2
  }
  const entry = line.commands.find((command) => command.name === name)
  if (entry === undefined) {
    surroundings.err(`There is no command "${name}".\n\n${overview(line.commands)}`)
    return 2
  }
  const command = await entry.load()
  if (!asksForHelp) return runCommand(entry.name, command, rest, surroundings)
  surroundings.out(command.help)
  return 0
}

function overview(commands: readonly CommandEntry[]): string {
  const width = Math.max(...commands.map(({ name }) => name.length))
  return [
    'Usage: postern <command> [options]',
    '',
    ...commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`),
    '',
    'postern help <command> says more. Every command takes --json, and --config FILE for',
    'a file other than postern.config.ts (.mts, .js, .mjs), whose default export is the',
    'options of createAuth. Variables of a file .env in this folder are read.',
  ].join('\n')
}

async function runCommand(
  name: string,
  command: Command,
  args: readonly string[],
  surroundings: Surroundings,
): Promise<number> {
  // What was parsed is not known yet when parsing fails.
  const json = args.includes('--json')
  try {
    const { values, positionals } = parse(name, command, args)
    if (values['help'] === true) {
      surroundings.out(command.help)
      return 0
    }
    const file = typeof values['config'] === 'string' ? values['config'] : null
    const config = () => loadConfig(surroundings.cwd, file)
    return await command.run({ ...surroundings, flags: values, words: positionals, json, config })
  } catch (error) {
    const { message, code } = failureOf(error)
    if (json) surroundings.out(JSON.stringify({ error: message }))
    else surroundings.err(message)
    return code
  }
}

function parse(name: string, { flags }: Command, args: readonly string[]) {
  const options = { ...common, ...flags }
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true })
  } catch (error) {
    throw new Refusal(`${messageOf(error)}\npostern help ${name} lists the options.`, 2)
  }
}

function failureOf(error: unknown): { readonly message: string; readonly code: number } {
  if (error instanceof Refusal) return { message: error.message, code: error.code }
  if (error instanceof OptionsError) return { message: error.message, code: 2 }
  if (error instanceof AuthError && error.status < 500) {
    return { message: `${error.message} (${error.code})`, code: 1 }
  }
  return { message: messageOf(error), code: 3 }
}

/** The message, with those of its causes: a driver's own words are one of them. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const cause = error.cause === undefined ? '' : `\n  ${messageOf(error.cause)}`
  return `${error.message}${cause}`
}
