import { createPublicKey } from 'node:crypto'
import { expect, it } from 'vitest'
import type { SigningInput } from '../../../src/crypto/key-ring.js'
import { createRemoteSignatures } from '../../../src/domain/keys/signing-keys.js'
import { fakeClock } from '../../../src/testing/fake-clock.js'
import { rsaPair } from '../../crypto/forge.js'
import { keyModule } from '../../support/outside/key-module.js'
import { recordingLogger } from '../../support/outside/recording-logger.js'

const pair = rsaPair()
const publicKey = createPublicKey(pair.publicKey)
const data = Buffer.from('header.payload')

function open() {
  const clock = fakeClock()
  const logger = recordingLogger()
  const module = keyModule(pair.privateKey)
  const inputs: SigningInput[] = []
  const held: (() => void)[] = []
  const signatures = createRemoteSignatures({ clock, logger, timeoutMs: 5000 })
  const sign = signatures({
    kid: 'k',
    publicKey,
    async sign(input) {
      inputs.push(input)
      await new Promise<void>((resolve) => held.push(resolve))
      return module.sign(input)
    },
  })
  const release = () => held.splice(0).forEach((go) => void go())
  return { clock, logger, inputs, held, sign, release }
}

const outcome = (signed: Promise<Uint8Array>) =>
  signed.then(
    () => 'signed',
    (error: unknown) => Reflect.get(Object(error), 'code'),
  )
const settled = () => new Promise<void>((resolve) => void setImmediate(resolve))

it('asks for 64 signatures at once, and for the others in their turn', async () => {
  const { inputs, sign, release } = open()
  const all = Array.from({ length: 150 }, () => outcome(sign(data)))
  await settled()
  expect(inputs).toHaveLength(64)
  release()
  await settled()
  expect(inputs).toHaveLength(128)
  release()
  await settled()
  release()
  expect(new Set(await Promise.all(all))).toEqual(new Set(['signed']))
  expect(inputs).toHaveLength(150)
})

it('lets a thousand wait, and refuses the next at once', async () => {
  const { clock, sign } = open()
  const waiting = Array.from({ length: 1064 }, () => outcome(sign(data)))
  expect(await outcome(sign(data))).toBe('service_unavailable')
  await settled()
  await clock.advance(5000)
  expect(new Set(await Promise.all(waiting))).toEqual(new Set(['service_unavailable']))
})

it('a signer that never answers keeps no place: the next ones are asked for', async () => {
  const { clock, inputs, sign, release } = open()
  const lost = Array.from({ length: 70 }, () => outcome(sign(data)))
  await settled()
  await clock.advance(5000)
  expect(new Set(await Promise.all(lost))).toEqual(new Set(['service_unavailable']))
  expect(inputs.every(({ signal }) => signal.aborted)).toBe(true)
  const before = inputs.length
  const again = Array.from({ length: 64 }, () => outcome(sign(data)))
  await settled()
  expect(inputs.length - before).toBe(64)
  release()
  expect(new Set(await Promise.all(again))).toEqual(new Set(['signed']))
})

it('a signer that answers too late frees no second place', async () => {
  const { clock, inputs, held, sign, release } = open()
  const lost = Array.from({ length: 64 }, () => outcome(sign(data)))
  await settled()
  const late = held.splice(0)
  await clock.advance(5000)
  await Promise.all(lost)
  const again = Array.from({ length: 130 }, () => outcome(sign(data)))
  await settled()
  for (const go of late) go()
  await settled()
  expect(inputs).toHaveLength(64 + 64)
  for (let turn = 0; turn < 3; turn += 1) {
    release()
    await settled()
  }
  expect(new Set(await Promise.all(again))).toEqual(new Set(['signed']))
})

it('a failure is logged once a minute, without the error’s words', async () => {
  const clock = fakeClock()
  const logger = recordingLogger()
  const module = keyModule(pair.privateKey)
  module.behave('failing')
  const signatures = createRemoteSignatures({ clock, logger, timeoutMs: 5000 })
  const sign = signatures({ kid: 'k', publicKey, sign: module.sign })
  const lines = () => logger.lines.filter(({ level }) => level === 'error')
  expect([await outcome(sign(data)), await outcome(sign(data))]).toEqual([
    'service_unavailable',
    'service_unavailable',
  ])
  expect(lines()).toHaveLength(1)
  await clock.advance(59_999)
  await outcome(sign(data))
  expect(lines()).toHaveLength(1)
  await clock.advance(1)
  await outcome(sign(data))
  expect(lines()).toHaveLength(2)
})
