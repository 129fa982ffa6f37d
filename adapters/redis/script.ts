import { createHash } from 'node:crypto'
import { NotMigratedError } from '../shared/not-migrated-error.js'
import type { Commands } from './commands.js'

/** A Lua script; Redis knows it by the digest of its text. */
export interface Script {
  readonly text: string
  readonly sha: string
}

/** Runs a script. All keys lie in one slot of a cluster. */
export type Run = (
  script: Script,
  keys: readonly string[],
  args: readonly string[],
) => Promise<unknown>

/** Why a script did nothing; see `prepared` in lua.ts. A reply of one word would begin with `ERR`. */
export const notMigrated = 'POSTERN_NOT_MIGRATED'

export function scriptOf(text: string): Script {
  return { text, sha: createHash('sha1').update(text).digest('hex') }
}

/**
 * Sends a script by its digest, and again as a whole if the server does not know it yet; that answer
 * means that nothing was run, so nothing is repeated. Any other failure rejects: after a lost
 * connection, the script may or may not have been run.
 */
export function runOn(commands: Commands): Run {
  const run: Run = async (script, keys, args) => {
    const [key = ''] = keys
    const rest = [String(keys.length), ...keys, ...args]
    try {
      return await commands.send(key, ['evalsha', script.sha, ...rest])
    } catch (error) {
      if (!says(error, 'NOSCRIPT')) throw error
      return await commands.send(key, ['eval', script.text, ...rest])
    }
  }
  return async (script, keys, args) => {
    try {
      return await run(script, keys, args)
    } catch (error) {
      throw says(error, notMigrated) ? notMigratedError(error) : error
    }
  }
}

function says(error: unknown, code: string): boolean {
  return error instanceof Error && error.message.startsWith(code)
}

function notMigratedError(cause: unknown): NotMigratedError {
  const missing =
    'redis: a collection or index is not there; before serving, await auth.migrate(), or ' +
    'store.prepare([]) of a Redis that holds no collection. If it was there before, the server ' +
    'has lost its data'
  return new NotMigratedError(missing, cause, 'await_auth_migrate_or_store_prepare')
}
