import type { AddCall } from '../../src/checks/check-call.js'
import type { Counter, CounterResult } from '../../src/ports/backend.js'
import { counterOf } from '../shared/checked-calls.js'
import { entryScript, sweepEntriesOf } from './entries.js'
import type { Keys } from './keys.js'
import type { Run } from './script.js'
import { listOf } from './texts.js'

/** ARGV: key, end of a window that starts now, limit, the caller's now, how many hits. */
const countHits = entryScript(`
local key, ends, limit, now = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local count, more = 0, tonumber(ARGV[5])
local running = redis.call('HGET', KEYS[2], key)
if running then
  local hits, resets = string.match(running, '^(%S+) (%S+)$')
  if tonumber(resets) > now then count, ends = tonumber(hits), resets end
end
local allowed = count + more <= limit
if count < limit then
  count = math.min(count + more, limit)
  redis.call('HSET', KEYS[2], key, string.format('%.0f', count) .. ' ' .. ends)
  redis.call('ZADD', KEYS[3], ends, key)
end
return { allowed and 'allowed' or 'refused', string.format('%.0f', count), ends }
`)

/** ARGV: key, hits to hand back. */
const forgiveHits = entryScript(`
local running = redis.call('HGET', KEYS[2], ARGV[1])
if not running then return end
local hits, resets = string.match(running, '^(%S+) (%S+)$')
local count = math.max(0, tonumber(hits) - tonumber(ARGV[2]))
redis.call('HSET', KEYS[2], ARGV[1], string.format('%.0f', count) .. ' ' .. resets)
`)

/** ARGV: key. */
const forgetWindow = entryScript(`
redis.call('HDEL', KEYS[2], ARGV[1])
redis.call('ZREM', KEYS[3], ARGV[1])
`)

/** Looking and counting are one script, so hits that come at once cannot pass the limit together. */
export function redisCounter(run: Run, keys: Keys): Counter {
  const places = [keys.schema, keys.entries, keys.expiries]

  async function count([key, , limit, now, hits]: AddCall, ends: number): Promise<CounterResult> {
    const args = [key, String(ends), String(limit), String(now), String(hits)]
    const [answer, held, resetsAt] = listOf(await run(countHits, places, args))
    return { allowed: answer === 'allowed', count: Number(held), resetsAt: Number(resetsAt) }
  }

  return counterOf({
    count,
    forget: (key) => run(forgetWindow, places, [key]),
    handBack: (key, hits) => run(forgiveHits, places, [key, String(hits)]),
    sweep: sweepEntriesOf(run, keys),
  })
}
