import { accessPlants } from './access-plants.js'
import { askedAgainPlants } from './asked-again-plants.js'
import { browserPlants } from './browser-plants.js'
import { callOrderPlants } from './call-order-plants.js'
import { clientPlants } from './client-plants.js'
import { conditionPlants } from './condition-plants.js'
import { configPlants } from './config-plants.js'
import { factorPlants } from './factor-plants.js'
import { guardPlants } from './guards.js'
import { intentPlants } from './intent-plants.js'
import { limitPlants } from './limit-plants.js'
import { pagePlants } from './page-plants.js'
import { parserPlants } from './parser-plants.js'
import { type Plant, type PlantEntry, plantOf } from './plant.js'
import { recordListPlants } from './record-list-plants.js'
import { refreshPlants } from './refresh-plants.js'
import { sessionPlants } from './session-plants.js'
import { timePlants } from './time-plants.js'

const entries: readonly PlantEntry[] = [
  ...refreshPlants,
  ...intentPlants,
  ...conditionPlants,
  ...accessPlants,
  ...browserPlants,
  ...recordListPlants,
  ...configPlants,
  ...sessionPlants,
  ...askedAgainPlants,
  ...limitPlants,
  ...pagePlants,
  ...callOrderPlants,
  ...parserPlants,
  ...clientPlants,
  ...factorPlants,
  ...guardPlants,
  ...timePlants,
]

/** All of them, a file for each family. */
export const plants: readonly Plant[] = entries.map(plantOf)
