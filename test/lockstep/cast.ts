import { decodeJwt } from 'jose'
import { generateSync } from 'otplib'
import type { ExchangeReply, Surface } from '../../src/index.js'
import type { Drawn } from '../simulation/drawn.js'
import type { SoftwareAuthenticator } from '../support/people/passkey-authenticator.js'
import type { Rig } from './rigs.js'

/** An account, and what its owner knows. */
export interface Person {
  readonly surface: Surface
  /** At the identity providers. */
  readonly subject: string
  email: string
  /** Empty while there is no account. */
  id: string
  /** The present one first. */
  passwords: readonly string[]
  /** Of the authenticator app, and of one that is being enrolled; empty without one. */
  secret: string
  newSecret: string
  codes: readonly string[]
  passkeys: readonly SoftwareAuthenticator[]
  newPasskey: SoftwareAuthenticator | null
}

/** A browser or an app. */
export interface Agent {
  readonly person: Person
  readonly isApp: boolean
  readonly address: string
  readonly jar: Map<string, string>
  /** The texts of replies, by the names of their members; the newest last. */
  readonly kept: Map<string, readonly string[]>
  /** The address of a flow to a provider, and a ceremony of a passkey with its operation; null without. */
  flow: string | null
  ceremony: { readonly of: string; readonly challengeId: string; readonly options: unknown } | null
  /** When a second factor was shown. */
  provedAt: number
}

export type Machine = Readonly<Record<'id' | 'credentialId' | 'clientId' | 'clientSecret', string>>

export interface World extends Rig {
  readonly draw: Drawn
  readonly people: readonly Person[]
  readonly agents: readonly Agent[]
  /** Credentials of service accounts, and the newest access token of one. */
  readonly machines: Machine[]
  machineToken: string
  /** The links that were mailed. */
  readonly links: Readonly<Record<'surface' | 'template' | 'to' | 'token', string>>[]
  /** Tokens, codes and ids of any time and of anybody. */
  readonly old: string[]
  /** The revisions of environments, as somebody saw them last. */
  readonly revisions: Map<string, number>
  /** Counts what has to be new, and how often the last request is to be repeated. */
  made: number
  streak: number
}

export const noFactors = { secret: '', newSecret: '', codes: [], passkeys: [], newPasskey: null }

/** Four people on each surface, one of whom has no account yet, with a browser and an app each. */
export async function startWorld(rig: Rig, draw: Drawn): Promise<World> {
  const people = [1, 2, 3, 4, 11, 12, 13, 14].map((at): Person => {
    const facts = { email: `person-${at}@example.org`, subject: String(5000 + at), id: '' }
    const surface = at < 10 ? 'operator' : 'client'
    return { ...facts, ...noFactors, surface, passwords: [`correct horse battery ${at}`] }
  })
  const agents = people.flatMap((person, at) =>
    [false, true].map((isApp): Agent => {
      const kept = { jar: new Map(), kept: new Map(), flow: null, ceremony: null, provedAt: 0 }
      return { ...kept, person, isApp, address: `192.0.2.${at * 2 + Number(isApp)}` }
    }),
  )
  for (const [at, person] of people.entries()) {
    const { email, passwords, surface } = person
    if (at % 4 === 3) continue
    const systemRole = ['super_admin', 'developer'][at] ?? 'guest'
    const given = { email, name: 'Ada', emailVerified: at % 4 < 2, systemRole }
    const { id } = await rig.auth[surface].users.create({ ...given, password: passwords[0] ?? '' })
    person.id = id
  }
  const empty = { machines: [], machineToken: '', links: [], old: [], revisions: new Map() }
  return { ...rig, ...empty, draw, people, agents, made: 0, streak: 0 }
}

/** The newest text of this name that the agent was told. */
export const newest = ({ kept }: Agent, name: string): string | null =>
  kept.get(name)?.at(-1) ?? null

/** An access token that has not expired. */
export function liveToken({ clock }: Pick<World, 'clock'>, agent: Agent): string | null {
  const token = newest(agent, 'accessToken')
  return token !== null && (decodeJwt(token).exp ?? 0) * 1000 > clock.now() ? token : null
}

/** One of a list that is not empty. */
export function oneOf<T>({ draw }: Pick<World, 'draw'>, list: readonly T[]): T {
  const [first, ...others] = list
  if (first === undefined) throw new Error('there is nothing to choose from')
  return draw.pick([first, ...others])
}

export const codeNow = ({ clock }: Pick<World, 'clock'>, secret: string): string =>
  generateSync({ secret, epoch: Math.floor(clock.now() / 1000) })

/** A text that was not given before. */
export function fresh(world: World, text: string): string {
  world.made += 1
  return `${world.made}-${text}`
}

function keep(world: World, agent: Agent, name: string, value: unknown): void {
  if (typeof value === 'object' && value !== null) {
    for (const [key, own] of Object.entries(value)) {
      keep(world, agent, Array.isArray(value) ? name : key, own)
    }
  }
  if (typeof value !== 'string') return
  agent.kept.set(name, [...(agent.kept.get(name) ?? []), value].slice(-8))
  if (/^[\w.-]{16,}$/.test(value)) world.old.push(value)
  world.old.splice(0, world.old.length - 60)
}

/** Takes over the cookies of a reply, and where it leads to. */
function follow(world: World, agent: Agent, { cookies, headers }: ExchangeReply): void {
  for (const cookie of agent.isApp ? [] : cookies) {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
    keep(world, agent, name, value)
    if (value === '') agent.jar.delete(name)
    else agent.jar.set(name, value)
  }
  const { location } = headers
  if (location === undefined) return
  const { searchParams, hash } = new URL(location)
  const told = [...searchParams, ...new URLSearchParams(hash.slice(1))]
  keep(world, agent, '', Object.fromEntries(told))
  if (searchParams.has('code_challenge')) agent.flow = location
}

type Members = Readonly<Record<string, unknown>>

/** What a good reply changes of the account, as its owner sees it. */
function settleAccount({ person }: Agent, of: string, sent: Members, body: Members): void {
  const { user, secret, backupCodes } = body
  const { newPassword } = sent
  const { id, email }: { readonly id?: string; readonly email?: string } = Object(user)
  // A provider may have led to another account.
  if (id !== undefined && (person.id === '' || person.id === id))
    Object.assign(person, { id, email })
  if (typeof secret === 'string') person.newSecret = secret
  if (typeof newPassword === 'string') person.passwords = [newPassword, ...person.passwords]
  if (/confirmTotp/i.test(of)) person.secret = person.newSecret
  if (Array.isArray(backupCodes)) person.codes = backupCodes.map(String)
  if (/removeTotp/i.test(of)) Object.assign(person, { secret: '', codes: [] })
  if (/deleteMe/i.test(of)) Object.assign(person, { id: '', ...noFactors })
  if (person.newPasskey !== null) person.passkeys = [person.newPasskey, ...person.passkeys]
}

/** What a good reply says of a service account, or of the module of a host. */
function noteAdministration({ machines, revisions }: World, path: string, body: Members): void {
  const { revision, clientSecret, id = path.split('/')[4] } = body
  const text = (name: string): string => String(body[name])
  if (typeof revision === 'number') {
    revisions.set(`${text('module')}/${text('environment')}`, revision)
  }
  if (clientSecret === undefined) return
  const own = { credentialId: text('credentialId'), clientId: text('clientId') }
  machines.push({ id: String(id), ...own, clientSecret: text('clientSecret') })
}

/** What a good reply begins. */
function note(world: World, agent: Agent, of: string, body: Members): void {
  const { accessToken, challengeId, options, provedAt, authorizationUrl } = body
  const isSecond = newest(agent, 'mfaToken') !== null && accessToken !== undefined
  if (isSecond || provedAt !== undefined) agent.provedAt = world.clock.now()
  else if (/login|register|exchange/i.test(of)) agent.provedAt = 0
  if (challengeId !== undefined) agent.ceremony = { of, challengeId: String(challengeId), options }
  if (typeof authorizationUrl === 'string') agent.flow = authorizationUrl
}

/** A request as it is sent. */
export interface Asked {
  readonly operation: string
  readonly method: string
  readonly path: string
  readonly query: string
  readonly headers: Readonly<Record<string, string>>
  readonly address: string
  /** Null without a body; a text as it is, anything else as JSON. */
  readonly body: unknown
}

/** What was shown is used up, whether it was good or not. */
function useUp({ links }: World, { person, kept }: Agent, asked: Asked, refusal: unknown): void {
  const { token, code }: Members = Object(asked.body)
  if (code !== undefined) kept.delete('code')
  if (token !== undefined) kept.delete('passwordToken')
  if (/confirmTotp/i.test(asked.operation)) person.newSecret = ''
  person.codes = person.codes.filter((one) => one !== code)
  person.newPasskey = null
  if (refusal === 'factor_not_found') Object.assign(person, noFactors)
  // Other refusals ask for one thing more.
  const isOver = refusal === undefined || /token/.test(String(refusal))
  const at = links.findIndex((link) => link.token === token)
  if (at >= 0 && isOver) links.splice(at, 1)
}

/** What a reply says to whoever sent the request. */
export function learn(world: World, agent: Agent, asked: Asked, reply: ExchangeReply): void {
  const { operation: of, path, body: sent } = asked
  const { kept } = agent
  const body: Members = reply.body?.startsWith('{') ? JSON.parse(reply.body) : {}
  const { code, accessToken } = body
  follow(world, agent, reply)
  if (/ServiceToken|ClientCredentials/.test(of)) {
    world.machineToken = String(accessToken ?? body['access_token'])
    return
  }
  // Credentials of machines have the names of those of people.
  if (!path.startsWith('/v1/admin')) keep(world, agent, '', { ...body, code: null })
  if (Object(sent).challengeId !== undefined) agent.ceremony = null
  if (reply.status < 400) {
    const isBack = /oauthCallback/i.test(of) && !/error=/.test(reply.headers['location'] ?? '')
    if (isBack) keep(world, agent, 'provider', path.split('/')[5])
    note(world, agent, of, body)
    noteAdministration(world, path, body)
    settleAccount(agent, of, Object(sent), body)
  }
  useUp(world, agent, asked, code)
  if (accessToken !== undefined || /^mfa_/.test(String(code))) kept.delete('mfaToken')
  if (reply.status === 401) kept.delete(/refresh/i.test(of) ? 'refreshToken' : 'accessToken')
}
