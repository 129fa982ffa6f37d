import { type Trusting, trusting, trustingPerson } from '../support/people/trusted-device.js'
import { type Flow, request } from './flow.js'

const deviceFlow = (
  of: string,
  name: string,
  requestOf: (who: Trusting) => readonly [method: string, path: string, body?: object],
): Flow => ({
  of,
  name,
  options: trusting,
  async prepare(walk) {
    const who = await trustingPerson(walk.host, walk.surface)
    const [method, path, body] = requestOf(who)
    const bearer = who.trustedBearer
    const step = request(walk, method, path, body === undefined ? { bearer } : { bearer, body })
    return { step, userId: who.id, email: who.email }
  },
})

/** Devices of somebody who trusts one. */
export const deviceFlows: readonly Flow[] = [
  deviceFlow('trustDevice', 'with a proof', () => ['POST', '/devices', { name: 'the laptop' }]),
  deviceFlow('listTrustedDevices', 'the devices', () => ['GET', '/devices']),
  deviceFlow('revokeTrustedDevice', 'one of their own', ({ deviceToken }) => [
    'DELETE',
    `/devices/${deviceToken.split('.')[0]}`,
  ]),
]
