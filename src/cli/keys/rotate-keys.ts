import { generateSigningKey } from 'postern'
import type { Call } from '../frame/command.js'
import { Refusal } from '../frame/refusal.js'
import { newConfigKey } from './generate-keys.js'
import { changeKeyFile, type KeyFile } from './key-file.js'
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
