import { type Agent, type Asked, liveToken, oneOf, type World } from './cast.js'

type Spoil = (world: World, asked: Asked) => Partial<Asked>

/** Something that was shown to somebody once. */
const stale = ({ old, draw }: World): string => old[draw.below(old.length)] ?? 'nothing yet'

const headers =
  (
    change: (world: World, headers: Asked['headers']) => Readonly<Record<string, string | null>>,
  ): Spoil =>
  (world, asked) => {
    const all = Object.entries({ ...asked.headers, ...change(world, asked.headers) })
    const left = all.flatMap(([name, value]) => (value === null ? [] : [[name, value]]))
    return { headers: Object.fromEntries(left) }
  }

/** Another member of the body, the same member otherwise, or none. */
const member =
  (change: (world: World) => unknown, name?: string): Spoil =>
  (world, { body }) => {
    const isForm = typeof body === 'string'
    const members = isForm ? Object.fromEntries(new URLSearchParams(body)) : { ...Object(body) }
    const names = Object.keys(members)
    members[name ?? names[world.draw.below(names.length)] ?? 'more'] = change(world)
    return { body: isForm ? new URLSearchParams(members).toString() : members }
  }

const wrong: readonly unknown[] = ['', 'garbage', 7, null, undefined, undefined, 'x'.repeat(9000)]

const otherToken = (world: World): string => {
  const other: Agent = oneOf(world, world.agents)
  return liveToken(world, other) ?? 'none'
}

const spoils: readonly Spoil[] = [
  ...[member(stale), member(stale), member(stale), member(() => 'member', 'more')],
  ...[member((world) => oneOf(world, wrong)), member((world) => oneOf(world, wrong))],
  headers(() => ({ authorization: null })),
  headers((world) => ({ authorization: `Bearer ${stale(world)}` })),
  headers((world) => ({ authorization: `Bearer ${otherToken(world)}` })),
  headers(() => ({ cookie: null })),
  headers((world, { cookie = '' }) => ({ cookie: cookie.replace(/=[^;]*/, `=${stale(world)}`) })),
  headers((_, { cookie = '' }) => ({ cookie: `${cookie}; ${cookie}` })),
  headers(() => ({ origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' })),
  headers(() => ({ origin: null, 'sec-fetch-site': null })),
  headers(() => ({ 'content-type': 'text/plain' })),
  headers(({ draw }) => ({ host: draw.pick(['other.example.com', 'admin.example.com']) })),
  ({ draw }, { body }) => ({
    body: typeof body === 'string' && draw.chance(0.5) ? `${body}&${body}` : '{"broken":',
  }),
  ({ draw }) => ({ method: draw.pick(['GET', 'POST', 'PATCH', 'PUT', 'DELETE', 'HEAD']) }),
  (_, asked) => ({
    method: 'OPTIONS',
    headers: { ...asked.headers, 'access-control-request-method': asked.method },
  }),
  (world, asked) => ({
    address: `203.0.113.${world.draw.below(200)}`,
    headers: { ...asked.headers, 'user-agent': 'Elsewhere/1' },
  }),
  (world, { path }) => {
    const parts = path.split('/')
    const at = 3 + world.draw.below(Math.max(1, parts.length - 3))
    const other = world.draw.chance(0.5) ? encodeURIComponent(stale(world)).slice(0, 300) : 'client'
    return { path: parts.with(Math.min(at, parts.length - 1), other).join('/') }
  },
]

/** The same with something wrong, missing, stale or of another. */
export const spoiled: (world: World, asked: Asked) => Asked = (world, asked) => ({
  ...asked,
  ...oneOf(world, spoils)(world, asked),
})
