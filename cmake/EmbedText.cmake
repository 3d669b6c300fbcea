# Writes INPUT as a C++ string constant NAME to OUTPUT: cmake -DINPUT=.. -DOUTPUT=.. -DNAME=.. -P EmbedText.cmake
file(READ "${INPUT}" text)
file(WRITE "${OUTPUT}" "// Generated from a TableGen file.\nextern const char ${NAME}[];\nconst char ${NAME}[] = R\"EMBED(${text})EMBED\";\n")
