import { editsModel } from './edits.model.js'
import { intentsModel } from './intents.model.js'
import { refreshModel } from './refresh.model.js'
import type { Model } from './spin/model.js'

/** Every model that `npm run test:long -- models` searches. */
export const models: readonly Model[] = [refreshModel, intentsModel, editsModel]
