import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { AuthOptions } from 'postern'
import { Refusal } from './refusal.js'

const names = ['ts', 'mts', 'js', 'mjs'].map((ending) => `postern.config.${ending}`)

/**
 * The default export of the host's configuration file, or what it gives when it is a function. `file` is null to look
 * for the usual names in the folder. Throws `Refusal` with code 2.
 */
export async function loadConfig(cwd: string, file: string | null): Promise<AuthOptions> {
  const path = file === null ? usualFile(cwd) : resolve(cwd, file)
  if (!existsSync(path)) throw new Refusal(`There is no file ${path}.`, 2)
  const exported = await defaultExport(path)
  const options: unknown = typeof exported === 'function' ? await exported() : await exported
  if (isOptions(options)) return options
  throw new Refusal(
    `${path} must have a default export: the options of createAuth, a promise of them, or a function that gives them.`,
    2,
  )
}

function usualFile(cwd: string): string {
  const found = names.map((name) => resolve(cwd, name)).find((path) => existsSync(path))
  if (found !== undefined) return found
  throw new Refusal(
    `There is no postern.config.ts (.mts, .js, .mjs) in ${cwd}. Go to the folder that has it, name it with --config, or make one with postern init.`,
    2,
  )
}

async function defaultExport(path: string): Promise<unknown> {
  try {
    const module: { readonly default?: unknown } = await import(pathToFileURL(path).href)
    return module.default
  } catch (error) {
    throw new Refusal(`${path} cannot be loaded. ${remedyOf(error, path)}`, 2, { cause: error })
  }
}

/** Node strips types from 22.18 and 23.6 on. */
function remedyOf(error: unknown, path: string): string {
  const code = error instanceof Error && 'code' in error ? error.code : ''
  if (code === 'ERR_UNKNOWN_FILE_EXTENSION') {
    return 'This version of Node reads no TypeScript: use Node 22.18 or newer, or a file that ends in .mjs.'
  }
  if (!(error instanceof Error)) return String(error)
  return `${error.message}${error.stack?.includes(path) ? '' : ` (thrown while ${path} was loaded)`}`
}

/** `createAuth` checks the rest and names what is wrong. */
function isOptions(value: unknown): value is AuthOptions {
  return typeof value === 'object' && value !== null && 'backend' in value && 'surfaces' in value
}
