import { defineConfig } from 'vitest/config'
import { SummaryReporter } from './test/support/summary-reporter.ts'

export default defineConfig({
  // Tests import the package by its name and get its source, as the examples do.
  resolve: { conditions: ['portcullis-source'] },
  ssr: { resolve: { conditions: ['portcullis-source'] } },
  test: {
    include: ['test/**/*.test.ts'],
    // These need programs of others: `npm run test:clients` and `npm run test:routers` ask for them.
    exclude: [
      ...(process.env.PORTCULLIS_CLIENTS === 'all' ? [] : ['test/clients/**']),
      ...(process.env.PORTCULLIS_ROUTERS === 'all' ? [] : ['test/real-routers/**']),
      // These build and install the package; `npm run test:package` asks for them.
      ...(process.env.PORTCULLIS_PACKAGE === 'all' ? [] : ['test/package/**']),
    ],
    reporters: ['default', new SummaryReporter()],
    // The small machines that this must be quick on have two cores.
    maxWorkers: 2,
    // A shared runner may stall for seconds; what is wrong fails three times.
    retry: process.env.CI ? 2 : 0,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
})
