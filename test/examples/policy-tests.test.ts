import { readModel, testModel, testText } from 'portcullis/model'
import { expect, it } from 'vitest'

it('the network of the example is as its assertions say', async () => {
  const files = ['network.yaml', 'assertions.yaml'].map((name) => `examples/policy-tests/${name}`)
  const result = await testModel(await readModel(...files))
  expect(testText(result)).toMatch(/\n11 passed$/)
})
