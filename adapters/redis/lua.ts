import { notMigrated, type Script, scriptOf } from './script.js'

/*
 * Every script checks everything before its first write: an error on the way does not take back
 * what was written before it. Every key is in KEYS, KEYS[1] being the schema: a key made up in Lua
 * may lie on another node of a cluster.
 */

/** An unprepared collection or a server that came back empty must not look like one without documents. */
export const prepared = `
if redis.call('EXISTS', KEYS[1]) == 0 then return redis.error_reply('${notMigrated} await auth.migrate()') end
`

const layout = `
local layout = redis.call('HGET', KEYS[1], 'layout')
if not layout then return redis.error_reply('${notMigrated} await auth.migrate()') end
layout = cjson.decode(layout)
local function read(key)
  local flat = redis.call('HGETALL', key)
  if #flat == 0 then return nil end
  local row = {}
  for n = 1, #flat, 2 do row[flat[n]] = flat[n + 1] end
  return row
end
local function text(row, field) return row[field] or layout.defaults[field] or 'null' end
local function entry(index, row)
  local texts = {}
  for n, field in ipairs(index.on) do texts[n] = text(row, field) end
  return index.name .. '\\0' .. table.concat(texts, ',')
end
`

/** For scripts that change rows: KEYS[2] expiries, KEYS[3] unique, KEYS[4] indexed; ARGV[1] the indexes the caller counts on. */
const rows = `${layout}
for name in string.gmatch(ARGV[1], '[^;]+') do
  if redis.call('HEXISTS', KEYS[1], name) == 0 then return redis.error_reply('${notMigrated} await auth.migrate()') end
end
local function holds(row, guard)
  for _, test in ipairs(guard) do
    local is, held = text(row, test[1]), false
    if test[2] == 'in' then
      for _, one in ipairs(test[3]) do held = held or is == one end
    else
      local number, bound = tonumber(is), tonumber(test[3])
      if number and test[2] == 'gt' then held = number > bound end
      if number and test[2] == 'lte' then held = number <= bound end
    end
    if not held then return false end
  end
  return true
end
-- A document that keeps its values is not asked: while an index is built it may clash already.
local function taken(old, new, id)
  for _, index in ipairs(layout.indexes) do
    local at = index.unique and entry(index, new)
    if at and not (old and entry(index, old) == at) then
      local holder = redis.call('HGET', KEYS[3], at)
      if holder and holder ~= id then return true end
    end
  end
  return false
end
local function reindex(old, new, id)
  for _, index in ipairs(layout.indexes) do
    local before, after = old and entry(index, old), new and entry(index, new)
    if before ~= after then
      if index.unique then
        if before and redis.call('HGET', KEYS[3], before) == id then
          redis.call('HDEL', KEYS[3], before)
        end
        if after then redis.call('HSET', KEYS[3], after, id) end
      else
        if before then redis.call('ZREM', KEYS[4], before .. '\\0' .. id) end
        if after then redis.call('ZADD', KEYS[4], 0, after .. '\\0' .. id) end
      end
    end
  end
end
local function flat(row)
  local list = {}
  for field, value in pairs(row) do
    list[#list + 1] = field
    list[#list + 1] = value
  end
  return list
end
`

/** KEYS: schema, documents. The hashes, in the order of their keys. */
export const readRows: Script = scriptOf(`${prepared}
local found = {}
for n = 2, #KEYS do found[n - 1] = redis.call('HGETALL', KEYS[n]) end
return found
`)

/** KEYS: schema, unique. ARGV: index, entry. The id that holds a unique entry, if any. */
export const holderOf: Script = scriptOf(`
if redis.call('HGET', KEYS[1], ARGV[1]) ~= 'ready' then return redis.error_reply('${notMigrated} await auth.migrate()') end
local id = redis.call('HGET', KEYS[2], ARGV[2])
return id and { id } or {}
`)

/** KEYS: schema, indexed. ARGV: index, command, from, to, limit. */
export const idsBetween: Script = scriptOf(`
if redis.call('HGET', KEYS[1], ARGV[1]) ~= 'ready' then return redis.error_reply('${notMigrated} await auth.migrate()') end
return redis.call(ARGV[2], KEYS[2], ARGV[3], ARGV[4], 'LIMIT', 0, ARGV[5])
`)

/** KEYS: schema, expiries. ARGV: before, limit. Ids, earliest first. */
export const idsExpired: Script = scriptOf(`${prepared}
return redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', ARGV[1], 'LIMIT', 0, ARGV[2])
`)

/** KEYS[5] the document. ARGV: indexes, id, score, then field and text in turns. */
export const insertRow: Script = scriptOf(`${rows}
local row, id = {}, ARGV[2]
for n = 4, #ARGV, 2 do row[ARGV[n]] = ARGV[n + 1] end
for _, field in ipairs(layout.required) do
  if not row[field] then return redis.error_reply('POSTERN_REQUIRED ' .. field .. ', which a newer version declares') end
end
if redis.call('EXISTS', KEYS[5]) == 1 or taken(nil, row, id) then return 0 end
redis.call('HSET', KEYS[5], unpack(ARGV, 4))
redis.call('ZADD', KEYS[2], ARGV[3], id)
reindex(nil, row, id)
return 1
`)

/** KEYS[5] the document. ARGV: indexes, id, guard, score or '', then field and text in turns. */
export const updateRow: Script = scriptOf(`${rows}
local old, id = read(KEYS[5]), ARGV[2]
if not old or not holds(old, cjson.decode(ARGV[3])) then return false end
local new = {}
for field, value in pairs(old) do new[field] = value end
for n = 5, #ARGV, 2 do new[ARGV[n]] = ARGV[n + 1] end
if taken(old, new, id) then return false end
redis.call('HSET', KEYS[5], unpack(ARGV, 5))
if ARGV[4] ~= '' then redis.call('ZADD', KEYS[2], ARGV[4], id) end
reindex(old, new, id)
return flat(new)
`)

/** KEYS[5] the document. ARGV: indexes, id, guard. */
export const takeRow: Script = scriptOf(`${rows}
local old, id = read(KEYS[5]), ARGV[2]
if not old or not holds(old, cjson.decode(ARGV[3])) then return false end
redis.call('DEL', KEYS[5])
redis.call('ZREM', KEYS[2], id)
reindex(old, nil, id)
return flat(old)
`)

/**
 * KEYS[5…] documents. ARGV: indexes, before, then their ids. Each is checked again for its expiry.
 * How many went, and how many expired ones there still are.
 */
export const sweepRows: Script = scriptOf(`${rows}
local removed, before = 0, tonumber(ARGV[2])
for n = 3, #ARGV do
  local id, key = ARGV[n], KEYS[n + 2]
  local score = redis.call('ZSCORE', KEYS[2], id)
  if score and tonumber(score) <= before then
    local old = read(key)
    redis.call('DEL', key)
    redis.call('ZREM', KEYS[2], id)
    if old then reindex(old, nil, id) end
    removed = removed + 1
  end
end
return { removed, redis.call('ZCOUNT', KEYS[2], '-inf', ARGV[2]) }
`)

/**
 * KEYS: schema, unique, indexed, documents. ARGV: index, then the documents' ids. Enters them into
 * one index as they are now. Gives two ids for each document whose unique entry belongs to another one:
 * its own and that one's.
 */
export const indexRows: Script = scriptOf(`${layout}
local index
for _, one in ipairs(layout.indexes) do if one.name == ARGV[1] then index = one end end
if not index then return redis.error_reply('${notMigrated} await auth.migrate()') end
local clashes = {}
for n = 2, #ARGV do
  local row, id = read(KEYS[n + 2]), ARGV[n]
  if row then
    local at = entry(index, row)
    if index.unique then
      local holder = redis.call('HGET', KEYS[2], at)
      if holder and holder ~= id then
        clashes[#clashes + 1] = id
        clashes[#clashes + 1] = holder
      else
        redis.call('HSET', KEYS[2], at, id)
      end
    else
      redis.call('ZADD', KEYS[3], 0, at .. '\\0' .. id)
    end
  end
end
return clashes
`)
