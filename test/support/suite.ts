/** Whether `npm test` runs, which has in short what `npm run test:slow`, or a run of a single file, has in full. */
export const IS_SHORT = process.env.PORTCULLIS_SUITE === 'short'
