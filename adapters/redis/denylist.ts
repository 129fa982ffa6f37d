import type { Row } from '../../src/checks/shape.js'
import type { Denylist } from '../../src/ports/backend.js'
import { denylistOf } from '../shared/checked-calls.js'
import { entryScript, sweepEntriesOf } from './entries.js'
import type { Keys } from './keys.js'
import { notMigrated, type Run, scriptOf } from './script.js'
import { listOf } from './texts.js'

/** ARGV: id, expiry, reason in turns. The first reason stays, the later expiry wins. */
const putEntries = entryScript(`
for n = 1, #ARGV, 3 do
  local id, expiry, reason = ARGV[n], ARGV[n + 1], ARGV[n + 2]
  local listed = redis.call('HGET', KEYS[2], id)
  if listed then
    local until_, first = string.match(listed, '^(%S+) (%S+)$')
    reason = first
    if tonumber(until_) > tonumber(expiry) then expiry = until_ end
  end
  redis.call('HSET', KEYS[2], id, expiry .. ' ' .. reason)
  redis.call('ZADD', KEYS[3], expiry, id)
end
`)

/**
 * A field that `prepare` leaves among the entries, and that every `find` asks for: a server that evicted the entries
 * alone must not look like one in which no session was ended. It has no expiry, and no id has a NUL.
 */
const marker = '\0prepared'

const markEntries = scriptOf(`
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then redis.call('HSET', KEYS[1], ARGV[1], '') end
`)
const askMarked = scriptOf(`return redis.call('HEXISTS', KEYS[1], ARGV[1])`)

export async function markDenylist(run: Run, { entries }: Keys): Promise<void> {
  await run(markEntries, [entries], [marker])
}

export async function isDenylistMarked(run: Run, { entries }: Keys): Promise<boolean> {
  return Number(await run(askMarked, [entries], [marker])) === 1
}

/** ARGV: the marker, then ids. Those that are listed, each followed by what is listed of it. */
const findEntries = entryScript(`
if redis.call('HEXISTS', KEYS[2], ARGV[1]) == 0 then return redis.error_reply('${notMigrated} await auth.migrate()') end
local found = {}
for n = 2, #ARGV do
  local id = ARGV[n]
  local listed = redis.call('HGET', KEYS[2], id)
  if listed then
    found[#found + 1] = id
    found[#found + 1] = listed
  end
end
return found
`)

/**
 * All entries are in one slot, so that a put is one atomic script and a find one round trip. A server
 * that came back empty, or evicted the entries, is refused: it must not look like an empty denylist.
 */
export function redisDenylist(run: Run, keys: Keys): Denylist {
  const places = [keys.schema, keys.entries, keys.expiries]
  const entries = denylistOf({
    async put(entries) {
      const args = entries.flatMap(({ id, expiresAt, reason }) => [id, String(expiresAt), reason])
      await run(putEntries, places, args)
    },
    async find(ids) {
      const flat = listOf(await run(findEntries, places, [marker, ...ids]))
      const rows: Row[] = []
      for (let at = 0; at < flat.length; at += 2) {
        const [expiresAt, reason] = (flat[at + 1] ?? '').split(' ')
        rows.push({ id: flat[at], reason, expiresAt })
      }
      return rows
    },
    sweep: sweepEntriesOf(run, keys),
  })
  return { ...entries, findsInGroups: true }
}
