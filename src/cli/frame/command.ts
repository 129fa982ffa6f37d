import type { AuthOptions } from 'postern'

/** What a command reaches of the outside. Tests give their own. */
export interface Surroundings {
  /** The folder that relative paths start from. */
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Writes lines of the result, which other programs may read. */
  readonly out: (text: string) => void
  /** Writes lines for the person: progress, warnings, refusals. */
  readonly err: (text: string) => void
  /** Asks the person; null where there is no terminal. */
  readonly ask: ((question: string) => Promise<string>) | null
  readonly now: () => number
  /** The version of Node that runs, such as `22.18.0`. */
  readonly nodeVersion: string
  /** Bytes of a cryptographic generator. */
  readonly randomBytes: (size: number) => Uint8Array
}

export interface FlagSpec {
  readonly type: 'string' | 'boolean'
  readonly short?: string
  /** May be repeated: its value is a list. */
  readonly multiple?: boolean
}

type FlagValue = string | boolean

/** What one run is asked for. */
export interface Call extends Surroundings {
  readonly flags: Readonly<Record<string, FlagValue | readonly FlagValue[] | undefined>>
  /** The words behind the command's name that belong to no flag. */
  readonly words: readonly string[]
  /** One JSON document is wanted on the output, and nothing else. */
  readonly json: boolean
  /**
   * The options that the host calls `createAuth` with, from the file of `--config`, or from
   * `postern.config.{ts,mts,js,mjs}` of the folder. Throws `Refusal` with code 2.
   */
  readonly config: () => Promise<AuthOptions>
}

export interface Command {
  /** Says what it does and takes, on a screen of 24 lines of 80 characters. */
  readonly help: string
  /** Beside `--config`, `--json` and `--help`, which all commands take. */
  readonly flags: Readonly<Record<string, FlagSpec>>
  /**
   * Resolves with the exit code: 0 for done, 1 for something found or refused, 2 for a wrong call or
   * configuration, 3 for a database or another part outside that failed.
   */
  readonly run: (call: Call) => Promise<number>
}

/** A line of `postern help`. The command is loaded when it is called. */
export interface CommandEntry {
  readonly name: string
  readonly summary: string
  readonly load: () => Promise<Command>
}
