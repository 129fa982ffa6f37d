import { lazily } from '../../../src/concurrency/promises.js'
import { editsModel } from '../../model/edits.model.js'
import { editorPlaces } from '../../model/edits-editor.js'
import { kinds } from '../../model/edits-verdict.js'
import { compiledModel, type Values } from '../../model/followed/compiled-model.js'
import type { Asking, Exchange, Happening, History, ShopWrite } from '../history.js'

/** The actions that led to a state, the newest first. */
interface Path {
  readonly name: string
  readonly before: Path | null
}

interface Possible {
  readonly values: Values
  readonly path: Path | null
}

export interface FollowedEdits {
  readonly taken: readonly string[]
  /** What the model cannot do; null where it did all that happened. */
  readonly refused: string | null
}

/** The model's editors. A request sits on one from its beginning until nothing of it is to come. */
const seats = [0, 1, 2] as const
type Seat = (typeof seats)[number]

const compiled = lazily(() => compiledModel(editsModel, { newest: 1_000_000, most: 1_000_000 }))
type Compiled = ReturnType<typeof compiled>

interface Following {
  readonly model: Compiled
  states: readonly Possible[]
  readonly seated: [string, string, string]
  /** Requests that are under way. */
  readonly underway: Set<string>
  /** Writes that are still to come, by the request. */
  readonly toCome: Map<string, number>
}

/** What shows in no write. */
const silent = [
  'asks',
  'is refused: there is the element',
  'is refused: another revision',
  'fails to write',
  'stops waiting for its write',
  'plans again',
  'is told of the conflict',
  'looks and finds its own write',
  "looks and finds another's",
]

const take = (model: Compiled, state: Possible, name: string): readonly Possible[] => {
  const values = model.action(name).take(state.values)
  return values === null ? [] : [{ values, path: { name, before: state.path } }]
}

function withValues(
  model: Compiled,
  state: Possible,
  given: Readonly<Record<string, number>>,
): Possible {
  const values = [...state.values]
  for (const [name, value] of Object.entries(given)) values[model.at(name)] = value
  return { ...state, values }
}

const valueIn = (model: Compiled, { values }: Possible, name: string): number =>
  values[model.at(name)] ?? 0

function distinct(states: Iterable<Possible>): readonly Possible[] {
  const known = new Map<string, Possible>()
  for (const state of states) {
    const key = state.values.join()
    if (!known.has(key)) known.set(key, state)
  }
  return [...known.values()]
}

function settle(following: Following): void {
  const { model, seated, underway } = following
  const active = seats.filter((seat) => underway.has(seated[seat]))
  const after = (state: Possible) =>
    active.flatMap((seat) => silent.flatMap((name) => take(model, state, `editor${seat} ${name}`)))
  let all = distinct(following.states)
  let newest = all
  while (newest.length > 0) {
    const before = all.length
    all = distinct([...all, ...newest.flatMap(after)])
    newest = all.slice(before)
  }
  following.states = all
}

/** What the model calls this edit; null for one that it does not have. */
function kindOf({ edit }: Exchange): number | null {
  if (edit === null || edit.kind === 'read' || edit.kind === 'remove') return null
  const isStated = edit.revision !== undefined
  if (edit.kind !== 'add') return kinds.indexOf(isStated ? 'setsStated' : 'setsText')
  if (isStated || (edit.slug !== 'north' && edit.slug !== 'south')) return null
  return kinds.indexOf(edit.slug === 'north' ? 'createsA' : 'createsB')
}

/** A request takes a seat of which nothing is to come; without one it is one of the others. */
function begin(following: Following, exchange: Exchange): void {
  const { model, seated, underway, toCome } = following
  const kind = kindOf(exchange)
  const seat = seats.find((one) => {
    return !underway.has(seated[one]) && (toCome.get(seated[one]) ?? 0) === 0
  })
  if (kind === null || seat === undefined) return
  seated[seat] = exchange.request
  underway.add(exchange.request)
  const { edit } = exchange
  const stated = edit !== null && 'revision' in edit ? (edit.revision ?? 0) : 0
  following.states = following.states.map((state) => {
    const seen = { seen: 0, seenA: 0, seenB: 0, first: 0 }
    const fresh = { place: 0, ...seen, tries: 0, applied: 0, wrote: 0, late: 0 }
    const named = Object.entries(fresh).map(([name, value]) => [`${name}${seat}`, value] as const)
    return withValues(model, state, {
      ...Object.fromEntries(named),
      [`kind${seat}`]: kind,
      [`stated${seat}`]: stated,
    })
  })
}

function end(following: Following, { request, status }: Exchange): void {
  const { model, seated, underway } = following
  const seat = seats.find((one) => seated[one] === request)
  if (seat === undefined || !underway.has(request)) return
  underway.delete(request)
  const isAt = (place: (typeof editorPlaces)[number]) => (state: Possible) =>
    valueIn(model, state, `place${seat}`) === editorPlaces.indexOf(place)
  if (status >= 500) return
  following.states =
    status < 300
      ? following.states.flatMap((state) => take(model, state, `editor${seat} is answered`))
      : following.states.filter(isAt('refused'))
}

/** A write of a request that has no seat: one of the others, of whom the model knows no more. */
function othersWrite({ model, states }: Following, write: ShopWrite): readonly Possible[] {
  if (write.kind === 'record' || !write.hit) return states
  return states.flatMap((state) => take(model, state, 'another editor sets a text'))
}

function seatWrites(following: Following, seat: Seat, write: ShopWrite): readonly Possible[] {
  const { model, states } = following
  const names =
    write.kind === 'record'
      ? [`editor${seat} keeps a record of the revision that it replaces`]
      : write.hit
        ? [
            `editor${seat} writes and wins`,
            `editor${seat} writes, and the answer is lost`,
            `the late write of editor${seat} takes effect`,
          ]
        : [`editor${seat} writes and misses`, `the late write of editor${seat} misses`]
  return states.flatMap((state) => {
    const taken = names.flatMap((name) => take(model, state, name))
    // A record that its request no longer waits for says what is recorded already.
    return taken.length === 0 && write.kind === 'record' ? [state] : taken
  })
}

function written(following: Following, write: ShopWrite): void {
  const { model, seated, toCome } = following
  toCome.set(write.request, (toCome.get(write.request) ?? 1) - 1)
  const seat = seats.find((one) => seated[one] === write.request)
  following.states =
    seat === undefined ? othersWrite(following, write) : seatWrites(following, seat, write)
  if (write.kind === 'record' || !write.hit) return
  // The others remove elements as well, which are made again afterwards.
  const [a, b] = ['north', 'south'].map((slug) => (write.roster.includes(slug) ? 1 : 0))
  following.states = following.states.flatMap((state) => {
    if (seat !== undefined) {
      const isSame = valueIn(model, state, 'a') === a && valueIn(model, state, 'b') === b
      return isSame ? [state] : []
    }
    const gone = { ...(a === 0 && { madeA: 0 }), ...(b === 0 && { madeB: 0 }) }
    return [withValues(model, state, { a: a ?? 0, b: b ?? 0, ...gone })]
  })
}

type OfShop = Asking | ShopWrite

const isOfShop = (happening: Happening): happening is OfShop =>
  happening.kind === 'record' ||
  happening.kind === 'edit' ||
  ('exchange' in happening && happening.exchange.operation === 'editShop')

function told(happening: OfShop): string {
  if (!('exchange' in happening)) return JSON.stringify(happening)
  const { actor, request, status, code, edit } = happening.exchange
  const shown = `${actor} ${request} ${JSON.stringify(edit)}`
  return happening.kind === 'begin' ? `${shown} begins` : `${shown} ends ${status} ${code}`
}

/** Follows the edits of the shop's configuration by the table of the model of edits. */
export function followEdits({ happenings }: History): FollowedEdits {
  const model = compiled()
  const toCome = new Map<string, number>()
  const all = happenings.filter(isOfShop)
  for (const one of all) {
    if (!('exchange' in one)) toCome.set(one.request, (toCome.get(one.request) ?? 0) + 1)
  }
  const first = withValues(model, { values: model.initial, path: null }, { faults: 1_000_000 })
  const following: Following = {
    ...{ model, states: [first], toCome },
    ...{ seated: ['', '', ''], underway: new Set() },
  }
  let before = following.states
  for (const [index, happening] of all.entries()) {
    settle(following)
    before = following.states
    if (!('exchange' in happening)) written(following, happening)
    else if (happening.kind === 'begin') begin(following, happening.exchange)
    else end(following, happening.exchange)
    if (following.states.length > 0) continue
    const way = namesOf(before[0])
    const since = all.slice(Math.max(0, index - 14), index + 1).map(told)
    return { taken: [], refused: [...way.slice(-14), '--', ...since].join('\n  ') }
  }
  return { taken: namesOf(following.states[0]), refused: null }
}

function namesOf(state: Possible | undefined): readonly string[] {
  const names: string[] = []
  for (let at = state?.path ?? null; at !== null; at = at.before) names.push(at.name)
  return names.reverse()
}
