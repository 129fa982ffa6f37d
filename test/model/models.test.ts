import { describe, expect, it } from 'vitest'
import { models } from './models.js'
import { type Checked, checkPlant, checkScenario, unreached } from './spin/check-model.js'
import { isSpinMissing } from './spin/search.js'

/** The verifier is stopped by its own limit of processor time; what waits is a machine with other work. */
const patience = 240_000

describe.skipIf(isSpinMissing)('models searched by spin', () => {
  for (const model of models) {
    describe(`the model "${model.name}"`, () => {
      const searches: Checked[] = []

      for (const scenario of model.scenarios) {
        it(`holds in every state: ${scenario.name}`, { timeout: patience }, async () => {
          const checked = await checkScenario(model, scenario)
          expect(checked.problems).toEqual([])
          searches.push(checked)
        })
      }

      it('takes each of its actions, but for those that cannot happen for a reason', () => {
        expect(searches).toHaveLength(model.scenarios.length)
        expect(unreached(model, searches)).toEqual([])
      })

      for (const plant of model.plants) {
        it(`is refuted where ${plant.name}`, { timeout: patience }, async () => {
          expect((await checkPlant(plant)).problems).toEqual([])
        })
      }
    })
  }
})
