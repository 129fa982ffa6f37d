import { withoutEnding } from '../engine/text.js'
import type { Argon2Params } from '../ports/host.js'

/** Verifying beyond these would let an imported hash exhaust the process. */
const maxMemoryCost = 1024 * 1024
const maxTimeCost = 64
const maxParallelism = 16

const form =
  /^\$(argon2id|argon2i|argon2d)(?:\$v=(16|19))?\$([mtp]=[1-9][0-9]{0,6}(?:,[mtp]=[1-9][0-9]{0,6}){2})\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/

/** An argon2 hash taken apart. */
export interface Phc extends Argon2Params {
  readonly variant: 'argon2id' | 'argon2i' | 'argon2d'
  /** 19 is RFC 9106; 16 is the older draft, and what a string without a version means. */
  readonly version: 16 | 19
  readonly salt: Uint8Array
  readonly tag: Uint8Array
}

/**
 * An argon2 hash in PHC string format, its three parameters in any order, or null for every other text:
 * another scheme, an unknown, missing or repeated parameter, a salt outside 8–48 bytes, a tag outside
 * 12–64 bytes, or costs beyond 1 GiB of memory, 64 passes or 16 lanes. Never throws.
 */
export function parsePhc(text: string): Phc | null {
  const match = text.length <= 256 ? form.exec(text) : null
  if (match === null) return null
  const [, variant, version = '16', params = '', saltText = '', tagText = ''] = match
  const costs = new Map(params.split(',').map((one) => [one.slice(0, 1), Number(one.slice(2))]))
  // Three were read: if one came twice, another is missing, and is within no bounds.
  const costOf = (name: string): number => costs.get(name) ?? Number.NaN
  const [memoryCost, timeCost, parallelism] = [costOf('m'), costOf('t'), costOf('p')]
  const bounded =
    memoryCost <= maxMemoryCost &&
    memoryCost >= 8 * parallelism &&
    timeCost <= maxTimeCost &&
    parallelism <= maxParallelism
  const salt = decode(saltText, 8, 48)
  const tag = decode(tagText, 12, 64)
  if (!bounded || salt === null || tag === null || !isVariant(variant)) return null
  return {
    variant,
    version: version === '19' ? 19 : 16,
    memoryCost,
    timeCost,
    parallelism,
    salt,
    tag,
  }
}

/** The PHC string of a hash. */
export function formatPhc(phc: Phc): string {
  const { variant, version, memoryCost, timeCost, parallelism, salt, tag } = phc
  const params = `m=${memoryCost},t=${timeCost},p=${parallelism}`
  return `$${variant}$v=${version}$${params}$${encode(salt)}$${encode(tag)}`
}

/**
 * Whether a hash that has just been verified should be replaced by one of `params`. A hash
 * that is stronger is left alone: equality is not asked for. Lanes are no strength.
 */
export function isWeakerThan(phc: Phc, params: Argon2Params): boolean {
  return (
    phc.variant !== 'argon2id' ||
    phc.version < 19 ||
    phc.memoryCost < params.memoryCost ||
    phc.timeCost < params.timeCost ||
    phc.tag.length < 32 ||
    phc.salt.length < 16
  )
}

/** What to replace a weaker hash with: the higher one of each cost, so that none ever goes down. */
export function upgradedParams(phc: Argon2Params, params: Argon2Params): Argon2Params {
  return {
    memoryCost: Math.max(phc.memoryCost, params.memoryCost),
    timeCost: Math.max(phc.timeCost, params.timeCost),
    parallelism: Math.max(phc.parallelism, params.parallelism),
  }
}

function isVariant(name: string | undefined): name is Phc['variant'] {
  return name === 'argon2id' || name === 'argon2i' || name === 'argon2d'
}

/** PHC's B64: the standard alphabet without padding. Null unless it is the one way to write it. */
function decode(text: string, min: number, max: number): Uint8Array | null {
  const bytes = Buffer.from(text, 'base64')
  const canonical = encode(bytes) === text
  return canonical && bytes.length >= min && bytes.length <= max ? bytes : null
}

function encode(bytes: Uint8Array): string {
  return withoutEnding(Buffer.from(bytes).toString('base64'), '=')
}
