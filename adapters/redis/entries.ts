import type { Keys } from './keys.js'
import { prepared } from './lua.js'
import { type Run, type Script, scriptOf } from './script.js'

/**
 * The denylist and the counter keep what they hold in one hash, and when it ends in a sorted set
 * beside it. No key of theirs expires by itself: the server's clock would decide, which may be ahead.
 */
export function entryScript(body: string): Script {
  return scriptOf(`${prepared}${body}`)
}

/** A script blocks its server, so a batch is small enough that other callers do not wait long. */
const batch = 500

/** KEYS: schema, entries, expiries. ARGV: before, limit. How many were removed. */
const sweepEntries = entryScript(`
local ids = redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', ARGV[1], 'LIMIT', 0, ARGV[2])
for _, id in ipairs(ids) do
  redis.call('HDEL', KEYS[2], id)
  redis.call('ZREM', KEYS[3], id)
end
return #ids
`)

export function sweepEntriesOf(
  run: Run,
  keys: Keys,
): (before: number, limit: number) => Promise<number> {
  const places = [keys.schema, keys.entries, keys.expiries]
  return async (before, limit) => {
    let removed = 0
    for (;;) {
      const most = Math.min(batch, limit - removed)
      const gone = Number(await run(sweepEntries, places, [String(before), String(most)]))
      removed += gone
      if (gone < most || removed >= limit) return removed
    }
  }
}
