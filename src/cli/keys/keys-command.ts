import { resolve } from 'node:path'
import { generateSigningKey } from 'postern'
import type { Call, Command } from '../frame/command.js'
import { Refusal } from '../frame/refusal.js'
import { describeKey } from './describe-key.js'
import { generateKeys, newConfigKey } from './generate-keys.js'
import { changeKeyFile, type KeyFile, readKeyFile, usualKeyFile } from './key-file.js'
import {
  configRotationStep,
  dated,
  promoted,
  type RotationPolicy,
  replaced,
  rotationStep,
  withConfigKey,
  withConfigKeyFirst,
  withNext,
} from './rotation.js'

const actions: Readonly<Record<string, (call: Call, path: string) => Promise<number>>> = {
  generate: generateKeys,
  rotate: rotateKeys,
  show: showKeys,
}

export const keysCommand: Command = {
  help: `Usage: postern keys generate | rotate | show [--file FILE]

  generate   makes the file, with a signing key (RSA-3072) and a configuration
             key; --print writes both to the output, for a vault, and no file
  rotate     takes the next step: publishes a new key; from ten minutes later,
             lets it sign, and keeps the public half of the key before; drops
             keys that were replaced 31 days ago. Run it until it says "Done"
  show       lists the keys with their age, and never the keys themselves

  --file FILE       default ${usualKeyFile}
  --keep DAYS       how long rotate keeps a replaced key, 1 to 3650: at least as
                    long as JWT_REFRESH_TOKEN_EXPIRY (7 days by default)
  --stolen          with rotate: a new key at once, and no other. All tokens of
                    the keys before are refused; all users sign in again
  --configuration   with rotate: a new configuration key, in two calls that are
                    ten minutes apart or more. Restart every process after each;
                    after the second, the key encrypts: call
                    auth.config.reencrypt(), and remove the earlier key later

A host that reads the file like this has new signing keys within a minute:
  keys: async () => JSON.parse(await readFile(file, 'utf8')).signing`,
  flags: {
    file: { type: 'string' },
    keep: { type: 'string' },
    print: { type: 'boolean' },
    stolen: { type: 'boolean' },
    configuration: { type: 'boolean' },
  },
  async run(call) {
    const [word = '', ...more] = call.words
    const action = Object.hasOwn(actions, word) ? actions[word] : undefined
    if (action === undefined || more.length > 0) {
      throw new Refusal('Say one of: postern keys generate, rotate, show.', 2)
    }
    const { file } = call.flags
    return action(call, resolve(call.cwd, typeof file === 'string' ? file : usualKeyFile))
  },
}

const minute = 60_000
const day = 24 * 60 * minute

interface Turn {
  /** Null leaves the file as it is. */
  readonly file: KeyFile | null
  readonly step: string
  readonly says: string
}

/** Takes one step of a rotation, and says which. Resolves with 1 while it has to wait. */
export async function rotateKeys(call: Call, path: string): Promise<number> {
  if (call.flags['stolen'] === true && call.flags['configuration'] === true) {
    throw new Refusal('Say --stolen or --configuration: for both, one after the other.', 2)
  }
  const policy = { publishedFor: 10 * minute, keptFor: daysOf(call) * day }
  const turns: Turn[] = []
  await changeKeyFile(path, async (file) => {
    const turn = await turnOf(call, file, policy)
    turns.push(turn)
    return turn.file
  })
  for (const { step, says } of turns) call.out(call.json ? JSON.stringify({ step, says }) : says)
  return turns.every(({ file }) => file !== null) ? 0 : 1
}

async function turnOf(call: Call, file: KeyFile, policy: RotationPolicy): Promise<Turn> {
  const now = call.now()
  if (call.flags['configuration'] === true) return configTurnOf(call, file, policy)
  if (call.flags['stolen'] === true) {
    const says =
      'The new key is the only one. Each process has it within a minute, or after a restart. All users sign in again.'
    return { file: replaced(file, await generateSigningKey(), now), step: 'replaced', says }
  }
  const next = rotationStep(file, now, policy)
  switch (next.step) {
    case 'publish': {
      const says =
        'A new key is published. Run this again in ten minutes, when each process and each cache has it.'
      return { file: withNext(file, await generateSigningKey(), now), step: 'published', says }
    }
    case 'date': {
      const says =
        'The file has no date for the key in "next", so it counts as published now. Run this again in ten minutes, when each process and each cache has it.'
      return { file: dated(file, now), step: 'dated', says }
    }
    case 'wait': {
      const minutes = Math.ceil((next.until - now) / minute)
      const says = `The new key was published less than ten minutes ago. Run this again in ${minutes} min.`
      return { file: null, step: 'waiting', says }
    }
    case 'promote':
      return {
        file: promoted(file, now, policy),
        step: 'promoted',
        says: 'Done. The new key signs; the one before it verifies what it signed.',
      }
  }
}

function configTurnOf(call: Call, file: KeyFile, policy: RotationPolicy): Turn {
  const now = call.now()
  const next = configRotationStep(file, now, policy)
  switch (next.step) {
    case 'publish': {
      const taken = file.configKeys.map(({ id }) => id)
      const says =
        'A new configuration key stands behind the others, and encrypts nothing yet. Restart every process, and run this again after that, in ten minutes or later.'
      return {
        file: withConfigKey(file, newConfigKey(call, taken), now),
        step: 'configurationPublished',
        says,
      }
    }
    case 'wait': {
      const minutes = Math.ceil((next.until - now) / minute)
      const says = `The new configuration key was made less than ten minutes ago. Restart every process, and run this again in ${minutes} min.`
      return { file: null, step: 'waiting', says }
    }
    case 'promote': {
      const says =
        'The new configuration key stands first. Restart every process, call auth.config.reencrypt(), and ten minutes later take the old key out of the file. Keep it in your secret store for as long as you may restore a backup with secrets under it.'
      return { file: withConfigKeyFirst(file, now), step: 'configuration', says }
    }
  }
}

function daysOf({ flags }: Call): number {
  const { keep = '31' } = flags
  const days = typeof keep === 'string' && /^\d{1,4}$/.test(keep) ? Number(keep) : 0
  if (days >= 1 && days <= 3650) return days
  throw new Refusal('--keep must be a number of days, 1 to 3650.', 2)
}

interface ShownKey {
  readonly role: 'current' | 'next' | 'previous' | 'configuration'
  readonly id: string
  /** Null for a configuration key, which has 256 always. */
  readonly bits: number | null
  /** Epoch milliseconds. `null` if the file has no date. */
  readonly madeAt: number | null
  readonly retiredAt: number | null
}

/** Lists the keys, and never the keys themselves. */
export async function showKeys(call: Call, path: string): Promise<number> {
  const keys = shown(await readKeyFile(path))
  if (call.json) {
    call.out(JSON.stringify({ file: path, keys }))
    return 0
  }
  for (const { role, id, bits, madeAt, retiredAt } of keys) {
    const size = bits === null ? '' : `, ${bits} bits`
    const retired = retiredAt === null ? '' : `, replaced ${age(call.now() - retiredAt)} ago`
    const made = madeAt === null ? 'of unknown age' : `made ${age(call.now() - madeAt)} ago`
    call.out(`${role.padEnd(13)}  ${id}  ${made}${retired}${size}`)
  }
  return 0
}

function shown({ signing, configKeys, dates }: KeyFile): readonly ShownKey[] {
  const { current, next, previous = [] } = signing
  const timesOf = (id: string) => ({
    madeAt: dates[id]?.madeAt ?? null,
    retiredAt: dates[id]?.retiredAt ?? null,
  })
  const signingKey = (role: ShownKey['role']) => (pem: string) => {
    const { kid, bits } = describeKey(pem)
    return { role, id: kid, bits, ...timesOf(kid) }
  }
  return [
    ...[current].map(signingKey('current')),
    ...(next === undefined ? [] : [next]).map(signingKey('next')),
    ...previous.map(signingKey('previous')),
    ...configKeys.map(({ id }) => ({
      role: 'configuration' as const,
      id,
      bits: null,
      ...timesOf(id),
    })),
  ]
}

function age(ms: number): string {
  const days = Math.floor(ms / 86_400_000)
  if (days === 0) return 'less than a day'
  return days === 1 ? '1 day' : `${days} days`
}
