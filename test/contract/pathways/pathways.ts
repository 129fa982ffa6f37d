import { operations } from '../../../src/operations/index.js'
import type { Surface } from '../../../src/ports/surface.js'
import { devicePathways } from './device-pathways.js'
import { machinePathways } from './machine-pathways.js'
import { oauthPathways } from './oauth-pathways.js'
import { passkeyPathways } from './passkey-pathways.js'
import { passwordPathways } from './password-pathways.js'
import type { Pathway } from './pathway.js'
import { secondFactorPathways } from './second-factor-pathways.js'
import { sessionPathways } from './session-pathways.js'

/** Every way to tokens, and those that could be mistaken for one. */
export const pathways: readonly Pathway[] = [
  ...passwordPathways,
  ...devicePathways,
  ...secondFactorPathways,
  ...passkeyPathways,
  ...sessionPathways,
  ...oauthPathways,
  ...machinePathways,
]

/** Those whose operation the surface has. */
export const pathwaysOn = (surface: Surface): readonly Pathway[] => {
  const there = new Set(
    operations.flatMap(({ id, surfaces: of }) => (of.includes(surface) ? id : [])),
  )
  return pathways.filter(({ flow }) => there.has(flow.of))
}
